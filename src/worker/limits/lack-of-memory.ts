/**
 * Why an action had too little memory: it came to its own limit, or the machine had no more, though the
 * limit was not reached.
 */
export type LackOfMemory = "limit" | "machine";

export interface MemoryEvidence {
  /** Processes of the group that the kernel ended for want of memory; undefined where it does not say. */
  readonly kills: number | undefined;
  /** The same of the whole machine, while the group ran. */
  readonly killsOnMachine: number;
  /** The worker saw it over its limit, and ended it. */
  readonly endedByWatch: boolean;
  /** The most it had, with cache: at the limit, this is the limit. */
  readonly peakBytes: number;
  readonly limitBytes: number | undefined;
  readonly machineBytes: number;
  readonly exitCode: number;
  /** The worker ended it for another reason: a timeout, or a cancellation. */
  readonly wasStopped: boolean;
}

const killed = 137;

/** The kernel kills a process when its next allocation does not fit: a tenth, or a few large pages, below the limit. */
const nearLimit = 0.9;
const largePagesBytes = 4 * 1024 ** 2;

/** Who had this part of a machine that ran out is likely the one that was ended. */
const muchOfMachine = 0.5;

/** Returns what the end of a group shows about memory; undefined: nothing. */
export function lackOfMemory(evidence: MemoryEvidence): LackOfMemory | undefined {
  const { kills, killsOnMachine, endedByWatch, peakBytes, limitBytes, exitCode } = evidence;
  if (endedByWatch) return "limit";
  const isNearLimit =
    limitBytes !== undefined &&
    peakBytes >= Math.min(nearLimit * limitBytes, limitBytes - largePagesBytes);
  if (kills !== undefined && kills > 0) return isNearLimit ? "limit" : "machine";
  if (evidence.wasStopped || exitCode === 0) return undefined;
  // A group that the action made below its own may have been where the kernel counted.
  if (exitCode === killed && isNearLimit) return "limit";
  if (kills !== undefined || killsOnMachine === 0) return undefined;
  // A process of the tree may have been ended, and its parent says so in its own words.
  const isLikely = exitCode === killed || peakBytes >= muchOfMachine * evidence.machineBytes;
  return isLikely ? "machine" : undefined;
}
