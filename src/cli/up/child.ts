import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { createInterface } from "node:readline";

interface ChildCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** The file to which its stderr is appended. */
  readonly logFile: string;
}

export interface Child {
  readonly pid: number;
  /** Its end: `exit code 1`, `SIGKILL`, `could not be started`. */
  readonly ended: Promise<string>;
  /** The lines that it prints to stdout. */
  readonly lines: AsyncIterable<string>;
  /** Writes a line to its stdin. */
  send(line: string): void;
  /** Asks it to stop, and kills it after this time. */
  stop(graceMs: number): Promise<void>;
  /** Kills it and all processes that it started, at once. */
  kill(): void;
}

/**
 * Starts a child that ends when this process ends.
 *
 * Its stdin is a pipe that stays open: when this process is killed, the pipe closes and the child detects it. The child
 * leads its own process group, so that Ctrl-C reaches only this process, which then stops the children in its own
 * order.
 */
export function startChild({ program, args, logFile }: ChildCommand): Child {
  const log = openSync(logFile, "a");
  let child: ChildProcess;
  try {
    child = spawn(program, args, { stdio: ["pipe", "pipe", log], detached: true });
  } finally {
    closeSync(log);
  }
  const ended = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
    child.once("error", (cause) => resolve(`could not be started: ${cause.message}`));
  });
  child.stdin?.on("error", () => {});
  const killGroup = () => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // The group has no process left.
    }
  };
  return {
    pid: child.pid ?? 0,
    ended,
    lines: createInterface({ input: child.stdout ?? process.stdin }),
    send: (line) => void child.stdin?.write(`${line}\n`),
    async stop(graceMs) {
      child.kill("SIGTERM");
      const timer = setTimeout(killGroup, graceMs);
      await ended;
      clearTimeout(timer);
      child.stdin?.destroy();
      child.stdout?.destroy();
    },
    kill: killGroup,
  };
}
