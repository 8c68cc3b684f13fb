import { readFileSync, rmSync, statSync, utimesSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { diskFault, errnoOf } from "#cas/disk-fault.ts";
import { renameFile, writeNewFile } from "#cas/file-calls.ts";
import { tempFileIn } from "#cas/temp-file.ts";
import type { Clock } from "#core/clock.ts";
import type { StorePaths } from "./store-paths.ts";

/** The files that results lie in. What is in them is `result-file.ts`'s business. */
export interface ResultFiles {
  /** Undefined when it is not there; empty when the disk cannot read it back. */
  read(fileName: string): string | undefined;
  /** Replaces one of the same name; whoever reads meanwhile has the old one or the new, whole. */
  write(fileName: string, text: string): Promise<void>;
  remove(fileName: string): void;
  noteUse(fileName: string): void;
}

/** Use within a minute of use that was noted is not noted. */
const noteUseAfterMs = 60_000;

/**
 * Reads and removes without the thread pool: a find took 0.10 ms of this process with it, and takes a third of that. Nothing
 * comes in between either, so that what is removed is what was looked at.
 */
export function resultFiles(paths: StorePaths, directory: string, clock: Clock): ResultFiles {
  return {
    read(fileName) {
      try {
        return readFileSync(paths.result(fileName), "utf8");
      } catch (reason) {
        if (errnoOf(reason) === "ENOENT") return undefined;
        if (errnoOf(reason) === "EIO") return "";
        throw diskFault(reason, directory);
      }
    },

    async write(fileName, text) {
      const aside = tempFileIn(paths.temp);
      try {
        await writeNewFile(aside, Buffer.from(text), clock.now());
        const path = paths.result(fileName);
        await renameFile(aside, path).catch(async (reason: unknown) => {
          if (errnoOf(reason) !== "ENOENT") throw reason;
          await mkdir(dirname(path), { recursive: true });
          await renameFile(aside, path);
        });
      } catch (reason) {
        await rm(aside, { force: true });
        throw reason;
      }
    },

    remove: (fileName) => rmSync(paths.result(fileName), { force: true }),

    noteUse(fileName) {
      try {
        const now = clock.now();
        // The modification time, not the access time: a trim reads results, and some mounts note that by themselves.
        const { mtimeMs } = statSync(paths.result(fileName));
        if (Math.abs(now.getTime() - mtimeMs) > noteUseAfterMs) {
          utimesSync(paths.result(fileName), now, now);
        }
      } catch {
        // Costs only that trimming takes it for less used than it is.
      }
    },
  };
}
