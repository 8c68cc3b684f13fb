import type { GraphPreview } from "#api/preview.ts";
import { durationText } from "#core/duration-text.ts";
import type { Paint } from "./terminal/paint.ts";
import { printableLine } from "./terminal/printable-text.ts";
import { tableLines } from "./terminal/table.ts";
import { valueText } from "./value-text.ts";

/** The maximum number of listed jobs; for larger graphs, the first ones. */
const mostJobs = 50;

/** Returns the lines that describe a graph before it is submitted. */
export function previewLines(preview: GraphPreview, paint: Paint): string[] {
  const { jobs } = preview;
  const inactive = jobs.filter(({ state }) => state === "inactive").length;
  const known = jobs.filter(({ hasResult }) => hasResult === true).length;
  const switches = Object.entries(preview.switches);
  const listed = jobs.slice(0, mostJobs);
  return [
    `${paint.bold(String(jobs.length))} jobs of catalog ${preview.catalog.slice(0, 10)}` +
      (inactive > 0 ? `, ${inactive} inactive` : "") +
      (known > 0 ? `, ${known} already have a result` : ""),
    ...(switches.length === 0
      ? []
      : [`switches: ${switches.map(([name, value]) => `${name}=${valueText(value)}`).join(" ")}`]),
    ...(preview.expectedMs > 0
      ? [
          `expected: ${durationText(preview.expectedMs)} of work, ${durationText(preview.criticalPathMs)} until the end`,
        ]
      : []),
    ...tableLines(
      listed.map(({ name, kind, state, expectedMs, hasResult }) => [
        `  ${printableLine(name)}`,
        kind === "command" ? "" : kind,
        state === "inactive" ? paint.dim("inactive") : "",
        expectedMs === null ? "" : durationText(expectedMs),
        hasResult === true ? paint.green("has a result") : "",
      ]),
    ),
    ...(jobs.length > listed.length ? [`  … and ${jobs.length - listed.length} more`] : []),
  ];
}
