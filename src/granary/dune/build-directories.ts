import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { hasRunSince } from "./used-rules.ts";

/**
 * Returns the directories where a dune that did not announce itself may have built, for a command that ran in
 * `directory`: dune builds in `_build` of the outermost project inside the repository.
 */
export async function buildDirectories(
  directory: string,
  variables: Readonly<Record<string, string | undefined>>,
  sinceMs: number,
): Promise<string[]> {
  const candidates: string[] = [];
  const configured = variables["DUNE_BUILD_DIR"];
  if (configured) candidates.push(resolve(directory, configured));
  for (let at = resolve(directory); ; at = dirname(at)) {
    candidates.push(join(at, "_build"));
    if (dirname(at) === at || existsSync(join(at, ".git"))) break;
  }
  const run = await Promise.all(candidates.map((one) => hasRunSince(one, sinceMs)));
  return candidates.filter((_, index) => run[index]);
}
