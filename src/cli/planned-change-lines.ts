import type { PlannedChange, PlannedEffect, PlannedJob } from "#api/rerun.ts";
import { durationText } from "#core/duration-text.ts";
import type { Paint } from "./terminal/paint.ts";
import { printableLine } from "./terminal/printable-text.ts";
import { tableLines } from "./terminal/table.ts";

/** More lines than a screen are not useful; the sums include the rest, and --json lists all. */
const mostLines = 60;

const order: readonly PlannedEffect[] = [
  "runs",
  "runs because needed",
  "runs because downstream",
  "is revived",
  "is set inactive",
  "is skipped",
  "is left alone",
];

/** Describes which jobs a change affects and how, and its cost, for the person who confirms it. */
export function plannedChangeLines(change: PlannedChange, paint: Paint): string[] {
  const { jobs } = change;
  if (jobs.length === 0) return ["No additional job runs because of this."];
  const severalGraphs = new Set(jobs.map(({ graph }) => graph)).size > 1;
  const sorted = jobs.toSorted((a, b) => order.indexOf(a.does) - order.indexOf(b.does));
  const rows = sorted
    .slice(0, mostLines)
    .map((job) => [
      ...(severalGraphs ? [job.graph.slice(0, 8)] : []),
      paint.bold(printableLine(job.job)),
      job.times > 1 ? `${job.does} ${job.times} times` : job.does,
      detailOf(job),
    ]);
  const left = sorted.length - rows.length;
  return [
    ...tableLines(rows),
    ...(left > 0 ? [`… and ${left} more (--json lists all)`] : []),
    sumLine(change),
  ];
}

function detailOf({ does, why, waitsFor, expectedMs }: PlannedJob): string {
  if (does === "is left alone" || does === "is skipped") return printableLine(why ?? "");
  const after = waitsFor.slice(0, 3).map(printableLine).join(", ");
  const more = waitsFor.length > 3 ? ` and ${waitsFor.length - 3} more` : "";
  const parts = [
    ...(expectedMs === null ? [] : [`about ${durationText(expectedMs)}`]),
    ...(after === "" ? [] : [`after ${after}${more}`]),
  ];
  return parts.join(", ");
}

/** `5 runs, about 3 min 20 s from first to last, 11 min 30 s of work (0.92); 2 jobs never ran before` */
function sumLine({ jobs, expected }: PlannedChange): string {
  const { runs, endToEndMs, workerMs, cost, unknownJobs } = expected;
  if (runs === 0) return "Nothing runs.";
  const price = cost === null ? "" : ` (${cost.toFixed(2)})`;
  const known =
    unknownJobs === jobs.filter(({ cause }) => cause !== null).length
      ? []
      : [
          `about ${durationText(endToEndMs)} from first to last`,
          `${durationText(workerMs)} of work${price}`,
        ];
  const unknown =
    unknownJobs === 0 ? "" : `; the duration of ${countOf(unknownJobs, "job")} is not known`;
  return `${[countOf(runs, "run"), ...known].join(", ")}${unknown}`;
}

function countOf(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
