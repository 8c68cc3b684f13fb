import { readdirSync, readFileSync } from "node:fs";
import { marker } from "#measuring/processes/own-processes.ts";

/**
 * Ends measured programs whose collector was killed and that no sandbox ended: they would affect the next figures. Such
 * a program carries the mark, and its parent is the first process.
 *
 * The caller holds the measuring lock. Returns how many there were.
 */
export function endLeftovers(): number {
  // When this process is itself the first process, all programs are its descendants: the parent does
  // not show that a program has no collector.
  if (process.pid === 1) return 0;
  const left = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isLeft(name));
  for (const pid of left) {
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // The process has just ended, or belongs to another user.
    }
  }
  return left.length;
}

function isLeft(pid: string): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name is in parentheses and may contain any characters; state and parent follow it.
    const [, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (parent !== "1") return false;
    return readFileSync(`/proc/${pid}/environ`, "latin1")
      .split("\0")
      .some((each) => each.startsWith(`${marker}=`));
  } catch {
    return false;
  }
}
