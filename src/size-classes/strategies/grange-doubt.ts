import type { ClassEstimate, Estimate } from "../estimate/estimate.ts";
import { deviates, quantile } from "../estimate/log-normal.ts";
import { nearLimit } from "../estimate/near-limit.ts";
import { serial } from "../estimate/scaling.ts";
import type { EndedRun } from "../strategy.ts";

type Doubt = "memory" | "unmeasured" | "slow";

/**
 * Whether a greater class might have made a failure a success.
 *
 * Not if memory was far from short, and more CPUs would have made no difference: it used one at most where it had
 * several; or runs that took longer have succeeded, so that no deadline of its own has ended it; or it is new, nothing
 * like it uses more than one, and it took no longer than they do.
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
    // It ran longer than it ever did. What was serial may be parallel since, and have a deadline of its own.
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

/** Below `nearLimit`, since peaks are sampled: what came after the last sample is not known. */
const clearOfLimit = nearLimit - 0.15;
const oneCpu = 1.05;
const surelySerial = 0.98;
