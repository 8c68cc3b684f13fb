import type { EndedRun } from "#size-classes/strategy.ts";
import { drawFor } from "./random.ts";
import { durationOn, type TraceClass, type TraceExecution, type TraceHeader } from "./trace.ts";

/**
 * Memory grows linearly until this share of a run, and then stays constant.
 *
 * So a run that needs twice the memory of its class ends after 0.3 of its time: neither at once, which would make wrong
 * choices free, nor at the end.
 */
const peakAtShare = 0.6;
/** The exit code of a shell whose process was killed: 128 + SIGKILL. */
const killedExitCode = 137;

/** The kinds of random events; separates the draws of one run. */
const draws = { flaky: 1, lost: 2, lostAt: 3, infrastructure: 4, hidden: 5, flakyAt: 6 } as const;

/** One run of an execution. */
interface RunRequested {
  readonly seed: number;
  /** Its index in the trace. */
  readonly execution: number;
  /** Counts all runs of the execution; failures of machines depend on it. */
  readonly run: number;
  /** Counts the runs that were not lost; flaky failures of the action depend on it, whatever the class. */
  readonly attempt: number;
  readonly timeoutMs: number;
}

/** `infrastructure` is a lost run, too, but the farm knows that the action was not the cause. */
export interface RunResult extends EndedRun {
  readonly infrastructure: boolean;
  readonly flaky: boolean;
}

/** Returns the result of a run: the first event that stops it. */
export function firstStoppingEvent(
  header: TraceHeader,
  work: TraceExecution,
  on: TraceClass,
  requested: RunRequested,
): RunResult {
  const fullMs = durationOn(work, on.cpus);
  const draw = (kind: number, number: number) =>
    drawFor(requested.seed, requested.execution, kind, number);
  const ends: { readonly at: number; readonly end: EndedRun["end"]; readonly exitCode?: number }[] =
    [
      work.failsAt === undefined
        ? { at: fullMs, end: "succeeded", exitCode: 0 }
        : { at: fullMs * work.failsAt, end: "failed", exitCode: 1 },
    ];
  const flaky = draw(draws.flaky, requested.attempt) < work.flakyRate;
  if (flaky)
    ends.push({ at: fullMs * draw(draws.flakyAt, requested.attempt), end: "failed", exitCode: 1 });
  if (work.ownTimeoutMs !== undefined && work.ownTimeoutMs < fullMs)
    ends.push({ at: work.ownTimeoutMs, end: "failed", exitCode: 1 });
  if (work.peakMemoryBytes > on.memoryBytes) {
    const at = (fullMs * peakAtShare * on.memoryBytes) / work.peakMemoryBytes;
    const isHidden = draw(draws.hidden, requested.run) < header.hiddenOutOfMemoryRate;
    ends.push(
      isHidden
        ? { at, end: "failed", exitCode: 1 }
        : { at, end: "out_of_memory", exitCode: killedExitCode },
    );
  }
  if (requested.timeoutMs < fullMs) ends.push({ at: requested.timeoutMs, end: "timed_out" });
  const isLost = draw(draws.lost, requested.run) < header.lostRate;
  const infrastructure = draw(draws.infrastructure, requested.run) < header.infrastructureRate;
  if (isLost || infrastructure)
    ends.push({ at: fullMs * draw(draws.lostAt, requested.run), end: "lost" });

  const first = ends.reduce((least, each) => (each.at < least.at ? each : least));
  const durationMs = Math.round(first.at);
  const measured = first.end !== "lost";
  return {
    sizeClass: on.sizeClass,
    end: first.end,
    durationMs,
    timeoutMs: requested.timeoutMs,
    cpuMs: measured ? cpuUntil(work, on, durationMs) : undefined,
    peakMemoryBytes: measured ? peakUntil(work, on, durationMs, fullMs) : undefined,
    exitCode: first.exitCode,
    infrastructure: first.end === "lost" && infrastructure && !isLost,
    flaky: flaky && first.end === "failed",
  };
}

/** The serial part comes first. */
function cpuUntil(work: TraceExecution, on: TraceClass, durationMs: number): number {
  const speed = Math.min(1, on.cpus);
  const serialMs = Math.min(work.serialMs, durationMs * speed);
  const parallelMs =
    Math.max(0, durationMs - work.serialMs / speed) * Math.min(on.cpus, work.width);
  return Math.round(serialMs + Math.min(work.parallelMs, parallelMs));
}

function peakUntil(
  work: TraceExecution,
  on: TraceClass,
  durationMs: number,
  fullMs: number,
): number {
  const risen = fullMs === 0 ? 1 : Math.min(1, durationMs / (fullMs * peakAtShare));
  return Math.round(Math.min(on.memoryBytes, work.peakMemoryBytes * risen));
}
