import { readdirSync, readFileSync } from "node:fs";
import { marker } from "#measuring/processes/own-processes.ts";

/**
 * Ends measured programs whose collector was killed and that no sandbox ended: they would affect the next figures. Such
 * a program carries the mark, and its parent is the first process.
 *
 * The caller holds the measuring lock. Returns how many there were.
 */
export function endLeftovers(): number {
  // Children of the first process itself have no other parent.
  if (process.pid === 1) return 0;
  const left = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isLeft(name));
  for (const pid of left) {
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has just ended, or belongs to another user.
    }
  }
  return left.length;
}

function isLeft(pid: string): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // After the name, in parentheses and with any characters, follow state and parent.
    const [, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (parent !== "1") return false;
    return readFileSync(`/proc/${pid}/environ`, "latin1")
      .split("\0")
      .some((each) => each.startsWith(`${marker}=`));
  } catch {
    return false;
  }
}
