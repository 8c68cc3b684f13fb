import { existsSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** What lies in the data directory of a farm, and nowhere else: its lock, its keys, its owner's token. */
const marks = ["server.lock", "farm.key", "secrets.key", "owner-token"];

/**
 * Data directories of farms on this machine, as far as a worker can find them: the one that the environment names,
 * that of `grange up` for who stands here, and those that the worker stands in or uses something of, such as its token.
 *
 * A job runs as the worker's user. Where that is the server's, too, it could read the farm's keys and tokens.
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
  // What a job sees is at its real place, whatever links lead there.
  return [...new Set(found.map((folder) => realpathSync(folder)))];
}

/** Where `grange up` keeps its data for somebody who stands here: see `where-to-run.ts`. Without asking Git. */
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

/** A folder, and those that it lies in. */
function foldersFrom(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...foldersFrom(parent)];
}
