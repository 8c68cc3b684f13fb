import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** The directories for measuring on this machine, and for its results. */
export interface BenchPlaces {
  readonly results: string;
  readonly pairs: string;
  readonly cache: string;
  readonly work: string;
}

export function benchPlaces(
  base = join(homedir(), ".local", "share", "grange", "bench"),
): BenchPlaces {
  const at = (name: string) => join(resolve(base), name);
  return { results: at("results"), pairs: at("pairs"), cache: at("artifacts"), work: at("work") };
}

/** About 200 versions of a compiler. */
export const cacheLimitBytes = 10 * 1024 ** 3;
