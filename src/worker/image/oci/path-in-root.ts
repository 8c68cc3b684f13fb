import { lstatSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** As many as the kernel follows. */
const mostLinks = 40;

/**
 * Returns the path of an existing directory of a root file system without links in it; undefined when there is none.
 *
 * Links are followed as a process in that root would: an absolute one starts at the root, and no `..` leaves it.
 */
export function directoryInRoot(root: string, path: string): string | undefined {
  const waiting = path.split("/").toReversed();
  const at: string[] = [];
  let links = 0;
  while (waiting.length > 0) {
    const name = waiting.pop() ?? "";
    if (name === "" || name === ".") continue;
    if (name === "..") {
      at.pop();
      continue;
    }
    const there = join(root, ...at, name);
    const found = lstatSync(there, { throwIfNoEntry: false });
    if (found?.isSymbolicLink()) {
      if (++links > mostLinks) return undefined;
      const target = readlinkSync(there);
      if (target.startsWith("/")) at.length = 0;
      waiting.push(...target.split("/").toReversed());
    } else if (found?.isDirectory()) at.push(name);
    else return undefined;
  }
  return `/${at.join("/")}`;
}
