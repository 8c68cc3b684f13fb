import type { JobSummary } from "#api/graph.ts";
import type { JobState } from "#api/job-state.ts";
import { durationText } from "#core/duration-text.ts";
import type { Paint } from "../terminal/paint.ts";
import { shortened, widthOf } from "../terminal/table.ts";
import type { GraphView } from "./graph-view.ts";
import { jobDurationMs } from "./job-duration.ts";
import { markOf, reasonBeside } from "./job-mark.ts";
import { totalsOf, totalsText } from "./totals.ts";

interface Space {
  readonly columns: number;
  readonly rows: number;
  readonly paint: Paint;
}

/** The order of states when not all jobs fit: running ones, failures, and those that come next. */
const importance: Record<JobState, number> = {
  running: 0,
  failed: 1,
  waiting: 2,
  cancelled: 3,
  expired: 4,
  queued: 5,
  ready: 6,
  succeeded: 7,
  blocked: 8,
  unreachable: 9,
  coalesced: 10,
  inactive: 11,
};

/** Returns the graph as lines that fit the terminal, to be redrawn in place. */
export function progressBlock(view: GraphView, now: Date, space: Space): string[] {
  const all = [...view.jobs.values()];
  const room = Math.max(3, space.rows - 4);
  const shown = all.length <= room ? all : mostImportant(all, room - 1);
  const longest = Math.max(8, ...shown.map((job) => widthOf(job.name)));
  const nameColumns = Math.min(longest, Math.max(8, space.columns - 40));
  const hidden = all.length - shown.length;
  return [
    ...shown.map((job) => jobLine(job, nameColumns, now, space)),
    ...(hidden === 0 ? [] : [space.paint.dim(`  … and ${hidden} more`)]),
    space.paint.dim(totalsText(totalsOf(view))),
  ];
}

function mostImportant(jobs: readonly JobSummary[], room: number): JobSummary[] {
  const chosen = new Set(
    jobs.toSorted((a, b) => importance[a.state] - importance[b.state]).slice(0, room),
  );
  // In the graph's own order, so that lines keep their position while states change.
  return jobs.filter((job) => chosen.has(job));
}

function jobLine(job: JobSummary, nameColumns: number, now: Date, space: Space): string {
  const { sign, word } = markOf(job, space.paint);
  const name = shortened(job.name, nameColumns).padEnd(nameColumns);
  const ms = jobDurationMs(job, now);
  const duration = (ms === undefined ? "" : durationText(ms)).padStart(11);
  const left = space.columns - nameColumns - 11 - 16;
  const remarks = [
    ...(job.customised ? ["customised"] : []),
    ...(job.stale ? ["stale"] : []),
    ...(job.reason === null ? [] : [reasonBeside(job)]),
  ];
  const reason = shortened(remarks.join(", "), left);
  return `${sign} ${name} ${duration}  ${word} ${space.paint.dim(reason)}`.trimEnd();
}
