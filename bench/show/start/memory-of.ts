import { readOrUndefined } from "./process-tree.ts";

/** Memory of one or more processes, in KiB. */
interface Memory {
  /** Proportional set size: a page that several processes share counts in equal parts for each. */
  readonly pssKib: number;
  /** Resident set size: a page that several processes share counts once for each. */
  readonly rssKib: number;
}

/** Parses `/proc/PID/smaps_rollup`. */
export function parseRollup(text: string): Memory {
  const field = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text)?.[1]);
  return { pssKib: field("Pss"), rssKib: field("Rss") };
}

/** Returns the present memory of a process; zero for one that has ended. */
export function memoryOf(pid: number): Memory {
  const text = readOrUndefined(`/proc/${pid}/smaps_rollup`);
  return text ? parseRollup(text) : { pssKib: 0, rssKib: 0 };
}
