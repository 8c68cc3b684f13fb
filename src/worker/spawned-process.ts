import { spawn } from "node:child_process";
import { openSync, readdirSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { Fault } from "#core/fault.ts";
import { closeQuietly } from "./logs/captured-log.ts";
import type { FifoPool } from "./logs/fifo-pool.ts";

/** A process whose output nobody reads yet. */
export interface SpawnedProcess {
  readonly pid: number | undefined;
  readonly exited: Promise<number>;
  /** Read ends of its pipes; whoever runs it takes them over. */
  readonly stdout: number;
  readonly stderr: number;
}

/** Spawns a process with pipes for its output. `stdin` is closed here once it has it. */
export async function spawnProcess(
  argv: readonly string[],
  searchPath: string,
  pipes: FifoPool,
  stdin?: number,
): Promise<SpawnedProcess> {
  const [out, err] = [await pipes.take(), await pipes.take()];
  const [program = "", ...args] = argv;
  inherited ??= inheritedFiles();
  const child = spawn(program, args, {
    // Not a pipe of Node's as stdin: a socket there makes bash read its startup files.
    stdio: [stdin ?? "ignore", out.writeEnd, err.writeEnd, ...inherited],
    cwd: "/",
    env: { PATH: searchPath },
    detached: true,
  });
  for (const end of [out.writeEnd, err.writeEnd, ...(stdin === undefined ? [] : [stdin])]) {
    closeQuietly(end);
  }
  const exited = new Promise<number>((resolve, reject) => {
    child.once("error", (cause) =>
      reject(new Fault("internal", `${program} cannot be started`, { cause })),
    );
    child.once("exit", (code, signal) => resolve(code ?? 128 + signalNumber(signal)));
  });
  // Whoever runs it hears of it.
  exited.catch(() => {});
  return { pid: child.pid, exited, stdout: out.readEnd, stderr: err.readEnd };
}

let inherited: ("ignore" | number)[] | undefined;

/** Set for files that a program which is started does not get; in /proc, and on all but odd machines. */
const closeOnExec = 0o2000000;

/**
 * What stands in for files that this process was given open by who started it, such as the pipes of a
 * terminal or a supervisor. A process that it starts would get them, too, and a job could write to them.
 */
function inheritedFiles(): ("ignore" | number)[] {
  const fds = readdirSync("/proc/self/fd")
    .map(Number)
    .filter((fd) => fd > 2 && isPassedOn(fd));
  if (fds.length === 0) return [];
  const nothing = openSync("/dev/null", "r+");
  return Array.from({ length: Math.max(...fds) - 2 }, (_, i) =>
    fds.includes(i + 3) ? nothing : "ignore",
  );
}

function isPassedOn(fd: number): boolean {
  try {
    const [, flags = "0"] =
      /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8")) ?? [];
    return (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    // That of the look itself.
    return false;
  }
}

/** As a shell counts them in exit codes. */
function signalNumber(signal: NodeJS.Signals | null): number {
  return constants.signals[signal ?? "SIGKILL"];
}
