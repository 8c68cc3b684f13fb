import { linkSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { tempFileIn } from "#cas/temp-file.ts";
import type { DuneFile } from "./dune-protocol.ts";

/**
 * A rule that a dune has made and sent for storing, with separate links to its files: the files in the build directory
 * may be removed before they are stored.
 */
interface LinkedRule {
  /** Returns the present path of one of its files. */
  readonly at: (path: string) => string;
  release(): void;
}

/** Returns undefined when a file is missing, or is on another file system than dune's store. */
export function linkRule(
  temp: string,
  buildDirectory: string,
  files: readonly DuneFile[],
): LinkedRule | undefined {
  const held = new Map<string, string>();
  const release = () => {
    for (const aside of held.values()) rmSync(aside, { force: true });
  };
  try {
    mkdirSync(temp, { recursive: true });
    for (const { path } of files) {
      const aside = tempFileIn(temp);
      linkSync(join(buildDirectory, path), aside);
      held.set(path, aside);
    }
  } catch {
    release();
    return undefined;
  }
  return { at: (path) => held.get(path) ?? join(buildDirectory, path), release };
}
