import { resolve } from "node:path";
import { realPlaces, secretFilesOf } from "#machine/secret-files.ts";

/**
 * Files with keys and tokens that lie in no data directory, as far as a worker can know of them: those that servers
 * of this machine wrote down, and those that its own environment and options name.
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
