import type { Estimate } from "#api/benchmark-request.ts";
import type { CollectorView } from "#api/collector.ts";
import type { JobLike, Lasted } from "./job-duration.store.ts";

/** In seconds: the median of the last similar jobs, and the range of nine in ten of them. */
interface Usual {
  readonly seconds: number;
  readonly least: number;
  readonly most: number;
}

export interface JobAhead extends JobLike {
  readonly optional: boolean;
  /** The start of its execution. */
  readonly startedAt: Date | null;
}

export interface RequestAhead {
  readonly id: string;
  readonly suite: string;
  readonly startedAt: Date | null;
  /** Undefined: it waits for its artifacts, for an unknown time. */
  readonly jobs: readonly JobAhead[] | undefined;
}

function likeKey({ suite, section, target, backend, profile, set, pairs }: JobLike): string {
  return JSON.stringify([suite, section, target, backend, profile, set, pairs]);
}

export function usualOf(seconds: readonly number[]): Usual | undefined {
  if (seconds.length === 0) return undefined;
  const sorted = seconds.toSorted((a, b) => a - b);
  return {
    seconds: quantile(sorted, 0.5),
    least: quantile(sorted, 0.05),
    most: quantile(sorted, 0.95),
  };
}

/** Returns the usual duration of a job; for an unknown job, that of another job of its section and target. */
export function medianDurations(lasted: readonly Lasted[]): (job: JobLike) => Usual | undefined {
  const own = new Map(lasted.map((each) => [likeKey(each), usualOf(each.seconds)]));
  const near = (job: JobLike) =>
    usualOf(
      lasted
        .filter(
          (each) =>
            each.suite === job.suite &&
            each.section === job.section &&
            each.target === job.target &&
            each.pairs === job.pairs,
        )
        .flatMap((each) => each.seconds),
    );
  return (job) => own.get(likeKey(job)) ?? near(job);
}

/** A machine, or a set of benchmarks without a machine. */
type LaneOf = (target: string, set: number) => string | undefined;

/**
 * Returns the collector that measures a set: the one registered for it, else the one that serves all sets. Undefined:
 * none.
 */
export function lanesOf(collectors: readonly CollectorView[]): LaneOf {
  const active = collectors.filter(({ active: isActive }) => isActive);
  return (target, set) =>
    (
      active.find((each) => each.target === target && each.set === set) ??
      active.find((each) => each.target === target && each.set === null) ??
      active.find((each) => each.target === target && each.mayTakeOver.includes(set))
    )?.name;
}

interface Span {
  expected: number;
  least: number;
  most: number;
}
const zero = (): Span => ({ expected: 0, least: 0, most: 0 });
const kinds = ["expected", "least", "most"] as const;

/**
 * Returns when each request should begin and end, in the order of the queue.
 *
 * Each machine processes its jobs one by one, request after request; a request takes as long as its slowest machine.
 * After a request of unknown length there are no estimates.
 */
export function estimateRequests(
  queue: readonly RequestAhead[],
  usual: (job: JobLike) => Usual | undefined,
  laneOf: LaneOf,
  requestsAtOnce: (suite: string) => number,
  now: Date,
): Map<string, Estimate> {
  const free = new Map<string, Span>();
  const slots = new Map<string, (Span | undefined)[]>();
  const estimates = new Map<string, Estimate>();
  const at = (seconds: number) => new Date(now.getTime() + seconds * 1_000).toISOString();

  for (const { id, suite, startedAt, jobs } of queue) {
    const begin = jobs === undefined ? undefined : takeSlot(slots, suite, requestsAtOnce(suite));
    const end =
      begin === undefined || jobs === undefined
        ? undefined
        : workThrough(
            begin,
            jobs.filter(({ optional }) => !optional),
            free,
            usual,
            laneOf,
            now,
          );
    if (jobs !== undefined) slots.get(suite)?.push(end);
    const startsAt = startedAt?.toISOString() ?? (begin === undefined ? null : at(begin.expected));
    estimates.set(id, {
      startsAt,
      endsAt: end === undefined ? null : at(end.expected),
      leastEndsAt: end === undefined ? null : at(end.least),
      mostEndsAt: end === undefined ? null : at(end.most),
    });
  }
  return estimates;
}

/** Returns when the first slot of a suite becomes free, counted from now; undefined when unknown. */
function takeSlot(
  slots: Map<string, (Span | undefined)[]>,
  suite: string,
  atOnce: number,
): Span | undefined {
  const taken = slots.get(suite) ?? [];
  slots.set(suite, taken);
  if (taken.length < atOnce) return zero();
  // A job of unknown duration may last forever: jobs with known durations release their slots first.
  const order = (span: Span | undefined) => span?.expected ?? Number.POSITIVE_INFINITY;
  taken.sort((a, b) => order(a) - order(b));
  return taken.shift();
}

function workThrough(
  begin: Span,
  jobs: readonly JobAhead[],
  free: Map<string, Span>,
  usual: (job: JobLike) => Usual | undefined,
  laneOf: LaneOf,
  now: Date,
): Span | undefined {
  const lanes = new Map<string, Span>();
  for (const job of jobs) {
    const lane = laneOf(job.target, job.set);
    const lasts = usual(job);
    if (lane === undefined || lasts === undefined) return undefined;
    const span = lanes.get(lane) ?? startOf(begin, free.get(lane));
    lanes.set(lane, span);
    const run = job.startedAt === null ? 0 : (now.getTime() - job.startedAt.getTime()) / 1_000;
    span.expected += Math.max(0, lasts.seconds - run);
    span.least += Math.max(0, lasts.least - run);
    span.most += Math.max(0, lasts.most - run);
  }
  const end = { ...begin };
  for (const [lane, span] of lanes) {
    free.set(lane, span);
    for (const kind of kinds) end[kind] = Math.max(end[kind], span[kind]);
  }
  return end;
}

function startOf(begin: Span, free: Span = zero()): Span {
  const span = zero();
  for (const kind of kinds) span[kind] = Math.max(begin[kind], free[kind]);
  return span;
}

function quantile(sorted: readonly number[], part: number): number {
  const place = (sorted.length - 1) * part;
  const below = sorted[Math.floor(place)] ?? 0;
  const above = sorted[Math.ceil(place)] ?? below;
  return below + (above - below) * (place - Math.floor(place));
}
