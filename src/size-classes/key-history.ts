import type { Level } from "./key.ts";
import type { PastRun } from "./past-run.ts";

/** The stored history of a key. */
export interface KeyHistory {
  readonly key: string;
  readonly level: Level;
  /** By size class; oldest first, at most `historySize`. Classes without runs are left out. */
  readonly runs: ReadonlyMap<number, readonly PastRun[]>;
  /** When it last failed on the greatest class, ms since 1970. */
  readonly lastFailureAt: number | undefined;
  /** Since the last success. */
  readonly failuresInARow: number;
  /** From which strategy `pagerank` starts its iteration: probability by size class. */
  readonly pageRank: ReadonlyMap<number, number>;
}
