import { existsSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** Files that exist only in the data directory of a farm: its lock, its keys, its owner's token. */
const marks = ["server.lock", "farm.key", "secrets.key", "owner-token"];

/**
 * Returns the data directories of farms on this machine that a worker can find: the configured one, that of `grange up`
 * in the present directory, and those that contain the present directory or a file that the worker uses, such as its
 * token.
 *
 * A job runs as the worker's user. When that is also the server's user, the job could read the farm's keys and tokens.
 */
export function farmDataHere(where: {
  readonly named: string | undefined;
  readonly here: string;
  readonly used: readonly string[];
}): string[] {
  const { named, here, used } = where;
  const above = dataDirectoryAbove(here);
  const found = [
    ...(named === undefined ? [] : [resolve(here, named)]),
    ...(above === undefined ? [] : [above]),
    ...[".", ...used].flatMap((path) => foldersFrom(resolve(here, path)).filter(isFarmData)),
  ].filter((folder) => existsSync(folder));
  // A job sees the real path, whatever symlinks lead there.
  return [...new Set(found.map((folder) => realpathSync(folder)))];
}

/** Returns the data directory of `grange up` for the present directory: see `where-to-run.ts`. It does not run Git. */
export function dataDirectoryAbove(here: string): string | undefined {
  for (const folder of foldersFrom(here)) {
    const dataDir = join(folder, ".grange-data");
    if (existsSync(dataDir)) return dataDir;
    if (existsSync(join(folder, ".git"))) return undefined;
  }
  return undefined;
}

function isFarmData(folder: string): boolean {
  return marks.some((name) => existsSync(join(folder, name)));
}

/** Returns a folder and its parents. */
function foldersFrom(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...foldersFrom(parent)];
}
