import { resolve } from "node:path";
import { realPlaces, secretFilesOf } from "#machine/secret-files.ts";

/**
 * Returns files with keys and tokens outside of data directories that a worker can find: those that servers of this
 * machine recorded, and those that its own environment and options name.
 */
export function secretFilesHere(
  farms: readonly string[],
  given: readonly (string | undefined)[],
): string[] {
  return realPlaces([
    ...farms.flatMap((dataDir) => secretFilesOf(dataDir)),
    ...given.flatMap((file) => (file === undefined || file === "" ? [] : [resolve(file)])),
  ]);
}
