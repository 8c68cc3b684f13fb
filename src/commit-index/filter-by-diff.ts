import { directoryOf } from "./few-inputs.ts";
import type { IndexEntry } from "./index-entry.ts";

/** An entry and the probability of its request, from 0 to 1. */
export interface ExpectedEntry {
  readonly entry: IndexEntry;
  readonly confidence: number;
}

interface FilteredIndex {
  readonly expected: readonly ExpectedEntry[];
  /** Entries with a changed input. */
  readonly dropped: readonly IndexEntry[];
}

/**
 * Returns what a build will probably request, from an earlier commit's index.
 *
 * An entry that was made from a changed file has another key now. When its tool does not report inputs, an entry stays,
 * with a confidence that falls with the number of commits.
 *
 * @param changedPaths The paths that differ between the index's commit and the working tree, directories ending in "/";
 * undefined when unknown. @param distance The number of first parents to the index's commit, 0 for the commit itself.
 */
export function filterByDiff(
  entries: readonly IndexEntry[],
  changedPaths: readonly string[] | undefined,
  distance: number,
): FilteredIndex {
  if (changedPaths?.length === 0) {
    return { expected: entries.map((entry) => ({ entry, confidence: 1 })), dropped: [] };
  }
  const likely = stillRequested(distance);
  // The index's commit is the commit of a dirty tree: something changed, even at distance 0.
  const unknown = changedPaths === undefined ? likely : Math.min(likely, stillRequested(1));
  const changed = changedPaths && changesOf(changedPaths);
  const expected: ExpectedEntry[] = [];
  const dropped: IndexEntry[] = [];
  for (const entry of entries) {
    if (changed === undefined || entry.inputs === undefined) {
      expected.push({ entry, confidence: unknown });
    } else if (entry.inputs.some((input) => isTouched(input, changed))) {
      dropped.push(entry);
    } else {
      expected.push({ entry, confidence: untouched });
    }
  }
  return { expected, dropped };
}

/** Not certain, because the tool reported its inputs itself. */
const untouched = 0.98;

/**
 * Measured over 45 consecutive commits of dune (a median of 3,240 rules each): the share of a commit's results that an
 * ancestor at this distance (first parents) also had. Values in between are interpolated linearly.
 */
const measured: readonly (readonly [number, number])[] = [
  [0, 1],
  [1, 0.93],
  [2, 0.82],
  [4, 0.79],
  [8, 0.7],
  [16, 0.67],
  [32, 0.44],
  [64, 0.3],
];

export function stillRequested(distance: number): number {
  const after = measured.findIndex(([at]) => at >= distance);
  const [to, from] = [measured[after], measured[after - 1]];
  if (to === undefined) return 0.3;
  if (from === undefined) return 1;
  return from[1] + ((to[1] - from[1]) * (distance - from[0])) / (to[0] - from[0]);
}

interface Changes {
  /** Files and directories that changed. */
  readonly paths: ReadonlySet<string>;
  /** Directories that contain changes, with their "/". */
  readonly above: ReadonlySet<string>;
}

function changesOf(changedPaths: readonly string[]): Changes {
  const above = new Set<string>();
  for (const path of changedPaths) {
    for (let at = directoryOf(path); at !== "" && !above.has(at); at = directoryOf(at)) {
      above.add(at);
    }
  }
  return { paths: new Set(changedPaths), above };
}

function isTouched(input: string, { paths, above }: Changes): boolean {
  // A path that was a directory (a submodule) is reported without its "/".
  if (paths.has(input) || above.has(input) || above.has(`${input}/`)) return true;
  if (input.endsWith("/") && paths.has(input.slice(0, -1))) return true;
  for (let at = directoryOf(input); at !== ""; at = directoryOf(at)) {
    if (paths.has(at) || paths.has(at.slice(0, -1))) return true;
  }
  return false;
}
