import type { ChildProcess } from "node:child_process";

/**
 * Kills a process that has not ended in time.
 *
 * Node's own option `timeout` keeps its timer when the program cannot be started, and so the whole process stays alive:
 * a command that started a missing program ended minutes after it had printed everything.
 */
export function endInTime(
  child: ChildProcess,
  timeoutMs: number,
  signal: NodeJS.Signals = "SIGKILL",
): void {
  const timer = setTimeout(() => child.kill(signal), timeoutMs);
  const stop = () => clearTimeout(timer);
  child.once("exit", stop).once("error", stop);
}
