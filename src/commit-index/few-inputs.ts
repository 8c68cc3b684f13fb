import { indexLimits } from "./index-limits.ts";

/**
 * Returns paths in order, each once, and at most as many as an entry may have: when there are more, the deepest are
 * replaced by their directories. The result covers at least the given paths; undefined when even that is too long.
 */
export function fewInputs(paths: Iterable<string>): readonly string[] | undefined {
  let all = new Set([...paths].filter(isPath));
  while (all.size > indexLimits.inputsOfEntry) {
    const deepest = Math.max(...[...all].map(depthOf));
    if (deepest === 0) return undefined;
    all = new Set([...all].map((path) => (depthOf(path) === deepest ? directoryOf(path) : path)));
  }
  return all.size === 0 ? undefined : [...all].sort();
}

/** Returns the directory that contains a file or directory, with its "/"; "" for the top. */
export function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/", path.length - 2) + 1);
}

function depthOf(path: string): number {
  return path.slice(0, -1).split("/").length - 1;
}

function isPath(path: string): boolean {
  return path !== "" && path.length <= indexLimits.pathLength;
}
