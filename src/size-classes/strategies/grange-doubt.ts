import type { ClassEstimate, Estimate } from "../estimate/estimate.ts";
import { deviates, quantile } from "../estimate/log-normal.ts";
import { nearLimit } from "../estimate/near-limit.ts";
import { serial } from "../estimate/scaling.ts";
import type { EndedRun } from "../strategy.ts";

type Doubt = "memory" | "unmeasured" | "slow";

/**
 * Returns whether a larger class might have turned a failure into a success.
 *
 * No, if memory was far from short and more CPUs would have changed nothing. The latter is true in three cases: it used
 * at most one CPU although it had several; longer runs have succeeded, so it has no time limit of its own; or it is
 * new, no similar action uses more than one CPU, and it took no longer than they do.
 */
export function doubtAbout(
  { cpuMs, durationMs, peakMemoryBytes }: EndedRun,
  on: ClassEstimate | undefined,
  known: Estimate,
): Doubt | undefined {
  if (on === undefined) return "unmeasured";
  const { memoryBytes, cpus } = on.offered;
  if (memoryBytes !== Number.POSITIVE_INFINITY) {
    if (peakMemoryBytes === undefined) return "unmeasured";
    if (peakMemoryBytes >= clearOfLimit * memoryBytes) return "memory";
  }
  if (cpus >= 2 && cpuMs !== undefined && cpuMs <= oneCpu * durationMs) return undefined;
  const { own } = known;
  if (own !== undefined && own.succeeded > 0) {
    if (durationMs <= own.longestSuccessMs) return undefined;
    // It ran longer than ever before. It may have become parallel, and may have its own time limit.
  } else if (
    (known.scalings[serial] ?? 0) >= surelySerial &&
    durationMs <= quantile(on.duration, deviates.p95)
  )
    return undefined;
  // Classes with no more CPUs than this are no faster.
  const greatest = known.classes.at(-1);
  if (greatest === undefined || greatest.offered.cpus <= cpus) return undefined;
  return "slow";
}

/** Below `nearLimit`, because peaks are sampled: use after the last sample is unknown. */
const clearOfLimit = nearLimit - 0.15;
const oneCpu = 1.05;
const surelySerial = 0.98;
