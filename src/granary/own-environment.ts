import { ownVariables } from "./config.ts";
import { defaultSettings } from "./workspace/granary-settings.ts";
import type { KnownDigests } from "./workspace/known-digests.ts";
import { readEnvironment } from "./workspace/read-environment.ts";

/** How long the computed environment is reused, in ms. */
const knownForMs = 2_000;

/**
 * Returns the environment of this process, and computes it again after some time, because compilers may be upgraded
 * while the granary runs.
 */
export function ownEnvironment(digests: KnownDigests): () => Promise<string> {
  let known: { readonly name: Promise<string>; readonly atMs: number } | undefined;
  return () => {
    if (known !== undefined && performance.now() - known.atMs < knownForMs) return known.name;
    const source = {
      settings: defaultSettings,
      root: undefined,
      variables: ownVariables(),
      digests,
    };
    const name = readEnvironment(source).then((environment) => environment.name);
    known = { name, atMs: performance.now() };
    return name;
  };
}
