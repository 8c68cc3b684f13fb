import type { CollectorState } from "#api/collector.ts";

/** The facts that determine a collector's state. */
export interface CollectorStanding {
  readonly active: boolean;
  readonly outOfDuty: string | null;
  readonly lastHeartbeatAt: Date | null;
  readonly hasJob: boolean;
}

/** A collector that never called is silent, too. */
function isSilent(lastHeartbeatAt: Date | null, now: Date, leaseMs: number): boolean {
  return lastHeartbeatAt === null || lastHeartbeatAt.getTime() + leaseMs <= now.getTime();
}

/** Returns the state of a collector. One that completes its job after it was deactivated still counts as measuring. */
export function collectorState(
  { active, outOfDuty, lastHeartbeatAt, hasJob }: CollectorStanding,
  now: Date,
  leaseMs: number,
): CollectorState {
  const silent = isSilent(lastHeartbeatAt, now, leaseMs);
  if (hasJob && !silent) return "measuring";
  if (!active) return "inactive";
  if (lastHeartbeatAt === null) return "never-seen";
  if (silent) return "offline";
  return outOfDuty === null ? "waiting" : "out-of-duty";
}
