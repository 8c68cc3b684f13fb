import { spawn } from "node:child_process";
import { constants } from "node:os";
import { join } from "node:path";
import { Fault } from "#core/fault.ts";
import { killQuietly } from "./limits/cgroup-files.ts";
import type { ProcessGroup, TreeUsage } from "./limits/limits.ts";
import { isInOwnPidNamespace } from "./limits/process-tree.ts";
import { CapturedLog, closeQuietly, type LogListener } from "./logs/captured-log.ts";
import type { FifoPool } from "./logs/fifo-pool.ts";
import { rest } from "./resting.ts";

/** Why a process is to end before it does by itself. */
export type StopReason = "timed_out" | "cancelled" | "lost";

export interface ProcessRequest {
  readonly argv: readonly string[];
  readonly group: ProcessGroup;
  /** Whether the job's processes are in a pid namespace of their own. */
  readonly inNamespace: boolean;
  readonly searchPath: string;
  /** Where stdout and stderr are written. */
  readonly scratch: string;
  readonly logLimitBytes: number;
  readonly timeoutMs: number;
  readonly killGraceMs: number;
  /** Given with a StopReason. */
  readonly stop: AbortSignal;
  /** Called once the process runs. */
  readonly started: (stdout: CapturedLog) => void;
  /** Hears what the process prints to stdout. */
  readonly hear?: LogListener | undefined;
}

export interface ProcessEnd {
  readonly exitCode: number;
  readonly stopped: StopReason | undefined;
  readonly outOfMemory: boolean;
  readonly usage: TreeUsage;
  readonly stdout: CapturedLog;
  readonly stderr: CapturedLog;
  readonly startedAt: Date;
  readonly endedAt: Date;
}

/** Runs a process to its end, and everything that it started with it. */
export async function runProcess(request: ProcessRequest, pipes: FifoPool): Promise<ProcessEnd> {
  const { group, scratch, logLimitBytes } = request;
  const [out, err] = [await pipes.take(), await pipes.take()];
  const [program = "", ...args] = group.commandLine(request.argv);
  const startedAt = new Date();
  const child = spawn(program, args, {
    // Not a pipe of Node's as stdin: a socket there makes bash read its startup files.
    stdio: ["ignore", out.writeEnd, err.writeEnd],
    cwd: "/",
    env: { PATH: request.searchPath },
    detached: true,
  });
  closeQuietly(out.writeEnd);
  closeQuietly(err.writeEnd);
  const stdout = new CapturedLog(join(scratch, "stdout"), out.readEnd, logLimitBytes, request.hear);
  const stderr = new CapturedLog(join(scratch, "stderr"), err.readEnd, logLimitBytes);
  const exited = new Promise<number>((resolve, reject) => {
    child.once("error", (cause) =>
      reject(new Fault("internal", `${program} cannot be started`, { cause })),
    );
    child.once("exit", (code, signal) => resolve(code ?? 128 + signalNumber(signal)));
  });

  const ended = new AbortController();
  const stopping = stopInTime(request, child.pid, ended.signal);
  try {
    if (child.pid !== undefined) {
      group.began(child.pid);
      request.started(stdout);
    }
    const exitCode = await exited;
    const endedAt = new Date();
    ended.abort();
    const stopped = await stopping;
    // Whatever it left running ends with it, also what has left its process group.
    await killTree(group, child.pid);
    await Promise.all([stdout.end(), stderr.end()]);
    const [usage, outOfMemory] = await Promise.all([group.usage(), group.ranOutOfMemory()]);
    return { exitCode, stopped, outOfMemory, usage, stdout, stderr, startedAt, endedAt };
  } catch (reason) {
    ended.abort();
    await stopping;
    await killTree(group, child.pid);
    await Promise.all([stdout.end(), stderr.end()]);
    throw reason;
  }
}

/** Waits for the time to be up or the signal to stop; then ends the tree, gently first. */
async function stopInTime(
  { group, inNamespace, timeoutMs, killGraceMs, stop }: ProcessRequest,
  pid: number | undefined,
  ended: AbortSignal,
): Promise<StopReason | undefined> {
  await rest(timeoutMs, AbortSignal.any([stop, ended]));
  if (ended.aborted) return undefined;
  const reason: StopReason = stop.aborted ? (stop.reason as StopReason) : "timed_out";
  if (reason !== "lost") {
    for (const member of await group.members()) {
      // Outside the namespace is the sandbox itself, whose end would be everybody's at once.
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

/** As a shell counts them in exit codes. */
function signalNumber(signal: NodeJS.Signals | null): number {
  return constants.signals[signal ?? "SIGKILL"];
}
