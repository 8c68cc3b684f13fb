import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { keyText, type ResultKey } from "#commit-index/result-key.ts";
import { recentlyUsed } from "#core/recently-used.ts";

/** The results that the farm has put into quarantine since the last update. */
export interface QuarantineUpdate {
  readonly results: readonly ResultKey[];
  /** The version up to which the update is complete. */
  readonly version: number;
}

/** The quarantine updates of this machine. */
export interface QuarantineUpdates {
  /** Returns the last known quarantine version of a project. */
  since(project: string): number;
  /** Drops the results of an update, and records the update. */
  take(project: string, told: QuarantineUpdate): Promise<void>;
  /** Returns whether a result was dropped recently, which is why a build has to make it. */
  hasDropped(project: string, key: ResultKey): boolean;
}

const VersionsFile = z.array(z.tuple([z.string(), z.number().int().nonnegative()]));

/**
 * The number of projects whose version is stored, the latest last. For other projects, the farm sends all of its
 * quarantine again.
 */
const mostProjects = 500;
const mostDropped = 5_000;

/**
 * Opens the record of updates, in a file. Without it, or with a broken one, the farm sends everything again.
 *
 * `farm`: the farm's name, because each farm has its own version numbers.
 */
export async function openQuarantineUpdates(
  path: string,
  farm: string,
  forget: (project: string, key: ResultKey) => Promise<void>,
  forgottenForGood: () => Promise<void>,
): Promise<QuarantineUpdates> {
  const versions = new Map<string, number>();
  try {
    for (const [name, version] of VersionsFile.parse(JSON.parse(await readFile(path, "utf8")))) {
      versions.set(name, version);
    }
  } catch {
    // Without a readable file, the record begins at 0.
  }
  const dropped = recentlyUsed<true>(mostDropped);
  const nameOf = (project: string) => JSON.stringify([farm, project]);
  let writing: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(`${path}.new`, JSON.stringify([...versions]));
    await rename(`${path}.new`, path);
  }

  return {
    since: (project) => versions.get(nameOf(project)) ?? 0,
    async take(project, { results, version }) {
      for (const key of results) {
        dropped.set(`${project} ${keyText(key)}`, true);
        await forget(project, key);
      }
      const name = nameOf(project);
      if (versions.get(name) === version) return;
      // Recorded afterwards: if the process is killed in between, or the disk is full, the farm sends the update again.
      if (results.length > 0 && !(await isDone(forgottenForGood()))) return;
      versions.delete(name);
      versions.set(name, version);
      for (const oldest of versions.keys()) {
        if (versions.size <= mostProjects) break;
        versions.delete(oldest);
      }
      writing = writing.then(write).catch(() => {});
      await writing;
    },
    hasDropped: (project, key) => dropped.peek(`${project} ${keyText(key)}`) !== undefined,
  };
}

function isDone(doing: Promise<void>): Promise<boolean> {
  return doing.then(
    () => true,
    () => false,
  );
}
