import type { Level } from "./key.ts";
import type { PastRun } from "./past-run.ts";

/** The stored history of a key. */
export interface KeyHistory {
  readonly key: string;
  readonly level: Level;
  /** By size class; oldest first, at most `historySize`. Classes without runs are left out. */
  readonly runs: ReadonlyMap<number, readonly PastRun[]>;
  /** The time of its last failure on the largest class, ms since 1970. */
  readonly lastFailureAt: number | undefined;
  /** The number since the last success. */
  readonly failuresInARow: number;
  /** The start values of strategy `pagerank`'s iteration: probability by size class. */
  readonly pageRank: ReadonlyMap<number, number>;
}
