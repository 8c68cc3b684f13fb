/**
 * Why an action had too little memory: it reached its own limit, or the machine had no free memory before the limit was
 * reached.
 */
export type LackOfMemory = "limit" | "machine";

export interface MemoryEvidence {
  /**
   * The number of processes of the group that the kernel ended for lack of memory; undefined when the kernel does not
   * report it.
   */
  readonly kills: number | undefined;
  /** The same number for the whole machine, while the group ran. */
  readonly killsOnMachine: number;
  /** The worker measured it above its limit, and ended it. */
  readonly endedByWatch: boolean;
  /** The group's peak with cache: at the limit, this equals the limit. */
  readonly peakBytes: number;
  readonly limitBytes: number | undefined;
  readonly machineBytes: number;
  readonly exitCode: number;
  /** The worker ended it for another reason: a timeout, or a cancellation. */
  readonly wasStopped: boolean;
}

const killed = 137;

/**
 * The kernel kills a process when its next allocation does not fit: the group is then a tenth, or a few large pages,
 * below the limit.
 */
const nearLimit = 0.9;
const largePagesBytes = 4 * 1024 ** 2;

/** When a machine runs out of memory, the process with this share of it was probably the one that was ended. */
const muchOfMachine = 0.5;

/** Returns what the end of a group proves about memory; undefined: nothing. */
export function lackOfMemory(evidence: MemoryEvidence): LackOfMemory | undefined {
  const { kills, killsOnMachine, endedByWatch, peakBytes, limitBytes, exitCode } = evidence;
  if (endedByWatch) return "limit";
  const isNearLimit =
    limitBytes !== undefined &&
    peakBytes >= Math.min(nearLimit * limitBytes, limitBytes - largePagesBytes);
  if (kills !== undefined && kills > 0) return isNearLimit ? "limit" : "machine";
  if (evidence.wasStopped || exitCode === 0) return undefined;
  // The kernel may have counted the kill in a group that the action created below its own.
  if (exitCode === killed && isNearLimit) return "limit";
  if (kills !== undefined || killsOnMachine === 0) return undefined;
  // A process of the tree may have been ended, while its parent reports the failure in its own way.
  const isLikely = exitCode === killed || peakBytes >= muchOfMachine * evidence.machineBytes;
  return isLikely ? "machine" : undefined;
}
