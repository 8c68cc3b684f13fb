import { readdirSync, readFileSync } from "node:fs";

/** The kernel's data about one process. Times are in clock ticks (10 ms on Linux). */
export interface ProcessFigures {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
  /** The time of the process, and of its children that have ended and were waited for. */
  readonly cpuTicks: number;
}

/** Parses `/proc/PID/stat`. The program's name is in parentheses and may contain any character. */
export function parseStat(text: string): ProcessFigures {
  const end = text.lastIndexOf(")");
  const fields = text.slice(end + 2).split(" ");
  const number = (field: number) => Number(fields[field - 3]);
  return {
    pid: Number.parseInt(text, 10),
    name: text.slice(text.indexOf("(") + 1, end),
    parent: number(4),
    cpuTicks: number(14) + number(15) + number(16) + number(17),
  };
}

/** Returns the process `root` and all its descendants among `all`, each parent before its children. */
export function descendantsOf(root: number, all: readonly ProcessFigures[]): ProcessFigures[] {
  const found = all.filter((each) => each.pid === root);
  // Adding to the list while it is iterated is intended.
  for (const each of found) found.push(...all.filter(({ parent }) => parent === each.pid));
  return found;
}

/** Reads the process `root` and all its descendants. */
export function processTree(root: number): ProcessFigures[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const all = pids.flatMap((pid) => {
    const stat = readOrUndefined(`/proc/${pid}/stat`);
    return stat === undefined ? [] : [parseStat(stat)];
  });
  return descendantsOf(root, all);
}

/** A process may end between two reads; then it does not count. */
export function readOrUndefined(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
