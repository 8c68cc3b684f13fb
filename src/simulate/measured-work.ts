import type { TraceClass, TraceExecution, TraceKeys } from "./trace.ts";
import { mostMs } from "./trace.ts";

/** An attempt that a farm has stored. */
export interface MeasuredAttempt {
  readonly sizeClass: number;
  readonly end: "succeeded" | "failed" | "timed_out" | "out_of_memory";
  readonly durationMs: number;
  readonly timeoutMs: number;
  readonly cpuMs: number | null;
  readonly peakMemoryBytes: number | null;
}

/** A run that ran out of memory needs at least a little more than its limit; how much more is unknown. */
const overMemory = 1.25;
/** The same for a run that timed out. */
const overTime = 2;

/**
 * Returns an execution of a trace from the measurements of a farm, on any class.
 *
 * Its last success determines its work, otherwise its last attempt. Undefined when no attempt ended by itself.
 */
export function measuredWork(
  at: number,
  keys: TraceKeys,
  timeoutMs: number,
  attempts: readonly MeasuredAttempt[],
  classes: readonly Pick<TraceClass, "sizeClass" | "cpus" | "memoryBytes">[],
): TraceExecution | undefined {
  const last = attempts.findLast(({ end }) => end === "succeeded") ?? attempts.at(-1);
  if (last === undefined) return undefined;
  const classOf = (sizeClass: number) => classes.find((each) => each.sizeClass === sizeClass);
  const cpus = classOf(last.sizeClass)?.cpus ?? last.sizeClass;
  // Limited before multiplication: beyond the largest number, differences are not numbers.
  const durationMs = Math.min(mostMs, last.durationMs * (last.end === "timed_out" ? overTime : 1));
  const cpuMs = Math.min(Number.MAX_SAFE_INTEGER, last.cpuMs ?? 0);
  // Both successes and attempts that ran out of memory contain information.
  const tooLittle = attempts.flatMap(({ end, sizeClass }) =>
    end === "out_of_memory" ? [(classOf(sizeClass)?.memoryBytes ?? 0) * overMemory] : [],
  );
  const peak = last.end === "out_of_memory" ? 0 : (last.peakMemoryBytes ?? 0);
  return {
    at: Math.min(mostMs, Math.max(0, Math.round(at))),
    keys,
    ...sharedOut(durationMs, cpuMs, cpus),
    peakMemoryBytes: Math.round(
      Math.min(2 ** 53, Math.max(peak, peak === 0 ? 0 : 1, ...tooLittle)),
    ),
    timeoutMs: Math.min(mostMs, Math.max(1, Math.round(timeoutMs))),
    ...(last.end === "failed" && { failsAt: 1 }),
    ...(cpus <= 1 && { seenOnOneCpu: true }),
    flakyRate: 0,
  };
}

/**
 * Divides a run into a part on one CPU and a part on all of them.
 *
 * From s + p = CPU time and s + p / c = duration. A run may have had several CPUs for a part and fewer for another,
 * which one run cannot show. Waiting for a disk or a network counts as work of one CPU, because more CPUs do not
 * shorten it.
 */
function sharedOut(
  durationMs: number,
  cpuMs: number,
  cpus: number,
): Pick<TraceExecution, "serialMs" | "parallelMs" | "width"> {
  const bounded = (ms: number) => Math.round(Math.min(mostMs, Math.max(0, ms)));
  if (cpus <= 1 || cpuMs <= durationMs)
    return { serialMs: bounded(durationMs * Math.min(1, cpus)), parallelMs: 0, width: 1 };
  const cpuTimeMs = Math.min(cpuMs, durationMs * cpus);
  const parallelMs = (cpuTimeMs - durationMs) / (1 - 1 / cpus);
  return {
    serialMs: bounded(cpuTimeMs - parallelMs),
    parallelMs: bounded(parallelMs),
    width: Math.min(1_000_000, cpus),
  };
}
