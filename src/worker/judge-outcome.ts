import { memorySizeText } from "#core/memory-size.ts";
import { Outcome } from "#proto/grange/worker/v1/worker_pb.ts";
import type { ProcessEnd } from "./run-process.ts";

type Judged = Pick<ProcessEnd, "exitCode" | "stopped" | "lack"> & {
  readonly usage: Pick<ProcessEnd["usage"], "peakMemoryBytes">;
};

interface Allowed {
  readonly timeoutMs: number;
  /** The memory limit that was in effect; undefined: that of the machine. */
  readonly memoryBytes: number | undefined;
  /** The limit that the action itself requested, which may be higher than the effective one. */
  readonly ownMemoryBytes: number | undefined;
  readonly processes: number;
  /** What it may write on the disk; undefined: no limit. */
  readonly diskBytes?: number | undefined;
}

export interface Verdict {
  readonly outcome: Outcome;
  /** For display; empty when the output of the process explains the failure. */
  readonly message: string;
}

/** Returns the outcome of a process from its end, its limits and its outputs. */
export function judgeOutcome(
  { exitCode, stopped, lack, usage }: Judged,
  allowed: Allowed,
  missing: readonly string[],
): Verdict {
  if (stopped === "cancelled") return { outcome: Outcome.CANCELLED, message: "it was cancelled" };
  // This also applies when the action hung after the loss of a process until its timeout, or ignored the loss and ended
  // with exit code 0: its outputs then depend on the available memory, and a cache would store them for others.
  if (lack === "limit" || lack === "machine") {
    const verdict = outOfMemory(lack, usage.peakMemoryBytes, allowed);
    const gotOver = "; it ended with exit code 0, without the process that was ended";
    return exitCode === 0 ? { ...verdict, message: verdict.message + gotOver } : verdict;
  }
  if (stopped === "timed_out") {
    return {
      outcome: Outcome.TIMED_OUT,
      message: `it ran longer than ${allowed.timeoutMs / 1_000} s`,
    };
  }
  if (stopped === "over_quota") {
    const limit = memorySizeText(allowed.diskBytes ?? 0);
    return {
      outcome: Outcome.FAILED,
      message: `it wrote more than ${limit} on the disk, which is the limit of a slot on this worker; request a larger size class, or let it write less`,
    };
  }
  if (exitCode !== 0) {
    const message = lack === "processes" ? `it had more than ${allowed.processes} processes` : "";
    return { outcome: Outcome.FAILED, message };
  }
  return {
    outcome: Outcome.SUCCEEDED,
    message: missing.length === 0 ? "" : missingOutputs(missing),
  };
}

function outOfMemory(
  lack: "limit" | "machine",
  peakBytes: number,
  { memoryBytes, ownMemoryBytes }: Allowed,
): Verdict {
  const had = `it had used ${memorySizeText(peakBytes)}`;
  if (memoryBytes === undefined) {
    const message = `it ran out of the machine's memory: ${had}; let it use less, or request a larger size class`;
    return { outcome: Outcome.OUT_OF_MEMORY, message };
  }
  const limit = memorySizeText(memoryBytes);
  // Other processes used the memory that the slot promises, so the failure says nothing about the action.
  if (lack === "machine") {
    const message = `the machine ran out of memory before the job reached its limit of ${limit} (${had}): the machine's slots together have more memory than the machine`;
    return { outcome: Outcome.INFRASTRUCTURE_ERROR, message };
  }
  const isOwn = ownMemoryBytes !== undefined && ownMemoryBytes <= memoryBytes;
  const more =
    ownMemoryBytes !== undefined && !isOwn
      ? `, of the ${memorySizeText(ownMemoryBytes)} it allows itself`
      : "";
  const message = isOwn
    ? `it ran out of memory: it limits itself to ${limit}, and ${had}; raise its limit, or let it use less`
    : `it ran out of memory: a slot on this worker has ${limit}${more}, and ${had}; request a larger size class, or let it use less`;
  return { outcome: Outcome.OUT_OF_MEMORY, message };
}

function missingOutputs(missing: readonly string[]): string {
  const shown = missing.slice(0, 10).join(", ");
  const more = missing.length > 10 ? ` and ${missing.length - 10} more` : "";
  return `declared outputs are missing: ${shown}${more}`;
}
