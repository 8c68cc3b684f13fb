import { messageOf } from "#core/fault.ts";
import { findCgroups } from "./cgroup-files.ts";
import { cgroupV1Limiter } from "./cgroup-v1.ts";
import { cgroupV2Limiter } from "./cgroup-v2.ts";
import type { Limiter, LimiterSettings } from "./limits.ts";
import { procLimiter } from "./proc-limiter.ts";

/** Returns the best limiter that works on this machine, and the reasons against better ones. */
export async function chooseLimiter(
  settings: LimiterSettings,
): Promise<{ limiter: Limiter; why: string }> {
  const mounts = findCgroups();
  const refused: string[] = [];
  for (const [name, open] of [
    ["cgroup v2", cgroupV2Limiter],
    ["cgroup v1", cgroupV1Limiter],
  ] as const) {
    try {
      return { limiter: await open(mounts, settings), why: refused.join("; ") };
    } catch (reason) {
      refused.push(`${name}: ${messageOf(reason)}`);
    }
  }
  return { limiter: procLimiter(settings), why: refused.join("; ") };
}
