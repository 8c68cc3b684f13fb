import type { JobState } from "./job-state.ts";

/** The part of a job that the path needs; a `JobSummary` has it. Times are ISO 8601 text. */
interface TimedJob {
  readonly name: string;
  readonly state: JobState;
  readonly readyAt: string | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
}

interface PathStep {
  readonly job: string;
  /**
   * The time from when it was no longer blocked until its end, in ms. For a running job, until `now`. For a job that
   * was run again later, from that request on: the time before the request belongs to no step.
   */
  readonly ms: number;
  /** The running time within it. */
  readonly runMs: number;
}

/**
 * Returns the chain of jobs that a graph's end had to wait for, or is waiting for, first to last.
 *
 * It starts at the job that ended last (a running job counts as later than all ended ones) and follows, for each job,
 * the dependency that ended last. Shortening any other job would not have ended the graph sooner. The steps add up to
 * the graph's length, except for the farm's own time before each job, and for waiting times for people.
 */
export function criticalPath(
  jobs: Iterable<TimedJob>,
  edges: Iterable<{ readonly job: string; readonly on: string }>,
  now: number,
): PathStep[] {
  const spans = new Map<string, Span>();
  for (const job of jobs) {
    const span = spanOf(job, now);
    if (span !== undefined) spans.set(job.name, span);
  }
  const heldBackBy = new Map<string, string[]>();
  for (const { job, on } of edges) {
    const before = heldBackBy.get(job);
    if (before === undefined) heldBackBy.set(job, [on]);
    else before.push(on);
  }
  const steps: PathStep[] = [];
  let last = latestOf(spans.keys(), spans);
  while (last !== undefined) {
    const before = latestOf(heldBackBy.get(last.name) ?? [], spans);
    const held = before?.end ?? last.begin;
    const ms = Math.max(0, last.end - Math.max(held, last.ready ?? held));
    steps.push({ job: last.name, ms, runMs: last.runMs });
    // A graph has no cycles, but wrong data must not cause an endless loop.
    if (steps.length > spans.size) return [];
    last = before;
  }
  return steps.toReversed();
}

interface Span {
  readonly name: string;
  readonly begin: number;
  readonly ready: number | undefined;
  readonly end: number;
  readonly runMs: number;
  readonly isRunning: boolean;
}

function spanOf({ name, state, ...job }: TimedJob, now: number): Span | undefined {
  const started = job.startedAt === null ? undefined : Date.parse(job.startedAt);
  const isRunning = state === "running" && started !== undefined;
  const ran =
    state === "succeeded" || state === "failed" || (state === "cancelled" && started !== undefined);
  if (!isRunning && (!ran || job.finishedAt === null)) return undefined;
  const end = isRunning || job.finishedAt === null ? now : Date.parse(job.finishedAt);
  const ready = job.readyAt === null ? undefined : Date.parse(job.readyAt);
  const begin = ready ?? started ?? end;
  return { name, begin, ready, end, runMs: Math.max(0, end - (started ?? end)), isRunning };
}

function latestOf(names: Iterable<string>, spans: ReadonlyMap<string, Span>): Span | undefined {
  let latest: Span | undefined;
  for (const name of names) {
    const span = spans.get(name);
    if (span !== undefined && (latest === undefined || isLater(span, latest))) latest = span;
  }
  return latest;
}

/** Of running jobs, the one that began first has delayed the graph longest. */
function isLater(one: Span, other: Span): boolean {
  if (one.isRunning && other.isRunning) return one.begin < other.begin;
  if (one.isRunning !== other.isRunning) return one.isRunning;
  return one.end > other.end;
}
