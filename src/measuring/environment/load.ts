import { loadavg } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { cpuTimeNow, ownCpuTime } from "./cpu-time.ts";
import { cpusOnline } from "./cpus.ts";

/** The load of the machine by other processes. */
export interface Load {
  /** The number of CPUs that other processes used during the sample. */
  readonly others: number;
  /** The number of CPUs that the hypervisor gave to other machines. */
  readonly stolen: number;
  /** The load average of one minute, per CPU. It includes this program's own work. */
  readonly averagePerCpu: number;
}

export type Quietness =
  | { readonly kind: "quiet" }
  /** Measure, but add a warning to each figure. */
  | { readonly kind: "flag"; readonly why: string }
  | { readonly kind: "refuse"; readonly why: string };

export async function sampleLoad(sampleMs: number, signal?: AbortSignal): Promise<Load> {
  const [before, own, from] = [cpuTimeNow(), ownCpuTime(), performance.now()];
  await wait(sampleMs, undefined, { signal });
  const seconds = (performance.now() - from) / 1_000;
  const now = cpuTimeNow();
  return {
    others: Math.max(0, now.busy - before.busy - (ownCpuTime() - own)) / seconds,
    stolen: Math.max(0, now.stolen - before.stolen) / seconds,
    averagePerCpu: (loadavg()[0] ?? 0) / cpusOnline(),
  };
}

/**
 * A fifth of one CPU: an unused desktop needs less, a busy browser tab needs more. If the load average per CPU exceeds
 * this, the quiet second was a coincidence.
 */
const quietCpus = 0.2;
const quietAverage = 2;

export function judgeLoad(load: Load, policy: "refuse" | "flag"): Quietness {
  const reasons = [
    load.others > quietCpus ? `other processes keep ${load.others.toFixed(1)} CPUs busy` : "",
    load.stolen > quietCpus ? `the hypervisor takes ${load.stolen.toFixed(1)} CPUs away` : "",
    load.averagePerCpu > quietAverage
      ? `the load average is ${load.averagePerCpu.toFixed(1)} per CPU`
      : "",
  ].filter((reason) => reason !== "");
  return reasons.length === 0 ? { kind: "quiet" } : { kind: policy, why: reasons.join("; ") };
}
