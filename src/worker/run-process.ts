import { join } from "node:path";
import { rest } from "#core/resting.ts";
import { killQuietly } from "./limits/cgroup-files.ts";
import { type DiskQuota, exceedsQuota, isOverQuota } from "./limits/disk-use.ts";
import type { Lack, ProcessGroup, TreeUsage } from "./limits/limits.ts";
import { isInOwnPidNamespace } from "./limits/process-tree.ts";
import { CapturedLog, type LogListener } from "./logs/captured-log.ts";
import type { SecretForms } from "./secrets/log-mask.ts";
import type { SpawnedProcess } from "./spawned-process.ts";

/** The reason to end a process early. */
export type StopReason = "timed_out" | "cancelled" | "lost" | "over_quota";

interface ProcessRequest {
  readonly process: SpawnedProcess;
  /** Starts the command of a waiting process. */
  readonly begin?: (() => void) | undefined;
  readonly group: ProcessGroup;
  /** Whether the job's processes are in their own pid namespace. */
  readonly inNamespace: boolean;
  /** The directory for the files of stdout and stderr. */
  readonly scratch: string;
  readonly logLimitBytes: number;
  readonly timeoutMs: number;
  /** What it may write on the disk; undefined: no limit. */
  readonly diskQuota?: DiskQuota | undefined;
  readonly killGraceMs: number;
  /** Aborted with a StopReason. */
  readonly stop: AbortSignal;
  /** Called once the process runs. */
  readonly started: (stdout: CapturedLog) => void;
  /** Receives the process's stdout. */
  readonly hear?: LogListener | undefined;
  /** The secrets that are masked in its output. */
  readonly secrets?: SecretForms | undefined;
}

export interface ProcessEnd {
  readonly exitCode: number;
  readonly stopped: StopReason | undefined;
  /** The resource that the tree had too little of. */
  readonly lack: Lack;
  readonly usage: TreeUsage;
  readonly stdout: CapturedLog;
  readonly stderr: CapturedLog;
  readonly startedAt: Date;
  readonly endedAt: Date;
}

/** Runs a process until it ends, and ends all processes that it started. */
export async function runProcess(request: ProcessRequest): Promise<ProcessEnd> {
  const { group, scratch, logLimitBytes, process, diskQuota } = request;
  const startedAt = new Date();
  if (process.pid !== undefined) group.began(process.pid);
  // Called first: output meanwhile waits in the pipes.
  request.begin?.();
  const { hear, secrets } = request;
  const stdout = new CapturedLog(join(scratch, "stdout"), process.stdout, logLimitBytes, {
    hear,
    mask: secrets?.mask(),
  });
  const stderr = new CapturedLog(join(scratch, "stderr"), process.stderr, logLimitBytes, {
    mask: secrets?.mask(),
  });

  const ended = new AbortController();
  const stopping = stopInTime(request, process.pid, ended.signal);
  try {
    if (process.pid !== undefined) request.started(stdout);
    const exitCode = await process.exited;
    const endedAt = new Date();
    // With a reason: without one, `abort` makes an error with a stack trace.
    ended.abort("ended");
    const endedBy = await stopping;
    // All processes that it left running are ended, also those that left its process group.
    await killTree(group, process.pid);
    // An action that ends between two checks must not pass because of that.
    const exceeds = diskQuota !== undefined && (await isOverQuota(diskQuota));
    const stopped = endedBy ?? (exceeds ? "over_quota" : undefined);
    await Promise.all([stdout.end(), stderr.end()]);
    const wasStopped = endedBy !== undefined;
    const [usage, lack] = await Promise.all([group.usage(), group.lack({ exitCode, wasStopped })]);
    return { exitCode, stopped, lack, usage, stdout, stderr, startedAt, endedAt };
  } catch (reason) {
    ended.abort();
    await stopping;
    await killTree(group, process.pid);
    // When one log cannot be written, the other must still be closed.
    await Promise.allSettled([stdout.end(), stderr.end()]);
    // The stream of stdout closes its log.
    await stderr.close().catch(() => {});
    throw reason;
  }
}

/** Waits for the timeout, the signal to stop, or a full quota; then ends the tree, first with SIGTERM. */
async function stopInTime(
  { group, inNamespace, timeoutMs, diskQuota, killGraceMs, stop }: ProcessRequest,
  pid: number | undefined,
  ended: AbortSignal,
): Promise<StopReason | undefined> {
  const overQuota = new AbortController();
  if (diskQuota !== undefined) {
    void exceedsQuota(diskQuota, AbortSignal.any([stop, ended])).then((exceeds) => {
      if (exceeds) overQuota.abort("over_quota");
    });
  }
  const stops = AbortSignal.any([stop, overQuota.signal]);
  await rest(timeoutMs, AbortSignal.any([stops, ended]));
  if (ended.aborted) return undefined;
  const reason: StopReason = stops.aborted ? (stops.reason as StopReason) : "timed_out";
  if (reason !== "lost") {
    for (const member of await group.members()) {
      // Outside the namespace there is only the sandbox itself; ending it would end all processes at once.
      if (!inNamespace || (await isInOwnPidNamespace(member))) killQuietly(member, "SIGTERM");
    }
    await rest(killGraceMs, ended);
  }
  await killTree(group, pid);
  return reason;
}

async function killTree(group: ProcessGroup, pid: number | undefined): Promise<void> {
  if (pid !== undefined) killQuietly(-pid);
  await group.kill();
}
