import { levelOf } from "#size-classes/key.ts";
import type { KeyHistory } from "#size-classes/key-history.ts";
import { historySize, type PastRun } from "#size-classes/past-run.ts";
import type { TraceKeys } from "./trace.ts";

/** The contribution of one run to the keys of its execution. */
interface Observation {
  readonly sizeClass: number;
  readonly run: PastRun;
}

/** The data that the farm stores, as in its tables: the last runs of each class, by key. */
export class FarmMemory {
  readonly #histories = new Map<string, KeyHistory>();

  /** From the most similar to the least similar. */
  historiesOf(keys: TraceKeys): KeyHistory[] {
    return namesOf(keys).map((key) => this.#of(key));
  }

  learn(keys: TraceKeys, observation: Observation): void {
    for (const key of namesOf(keys)) {
      const before = this.#of(key);
      const runs = new Map(before.runs);
      const kept = [...(runs.get(observation.sizeClass) ?? []), observation.run].slice(
        -historySize,
      );
      runs.set(observation.sizeClass, kept);
      this.#histories.set(key, { ...before, runs });
    }
  }

  failedOnGreatest(keys: TraceKeys, at: number): void {
    for (const key of namesOf(keys)) {
      const before = this.#of(key);
      const failuresInARow = before.failuresInARow + 1;
      this.#histories.set(key, { ...before, lastFailureAt: at, failuresInARow });
    }
  }

  /** The time of the last failure stays: a success does not clear Buildbarn's failure cache. */
  succeeded(keys: TraceKeys): void {
    for (const key of namesOf(keys)) {
      const before = this.#of(key);
      if (before.failuresInARow > 0) this.#histories.set(key, { ...before, failuresInARow: 0 });
    }
  }

  /** Only for the action's own key, because the strategy uses no other. */
  keepPageRank(keys: TraceKeys, pageRank: ReadonlyMap<number, number>): void {
    const [key] = namesOf(keys);
    if (key !== undefined) this.#histories.set(key, { ...this.#of(key), pageRank });
  }

  #of(key: string): KeyHistory {
    const known = this.#histories.get(key);
    if (known !== undefined) return known;
    const nothing: KeyHistory = {
      key,
      level: levelOf(key),
      runs: new Map(),
      lastFailureAt: undefined,
      failuresInARow: 0,
      pageRank: new Map(),
    };
    this.#histories.set(key, nothing);
    return nothing;
  }
}

/** The first letter identifies the level (src/size-classes/key.ts). */
function namesOf({ action, target, mnemonic, platform }: TraceKeys): string[] {
  const names = [`a ${action}`];
  if (target !== undefined) names.push(`t ${mnemonic ?? ""} ${target}`);
  if (mnemonic !== undefined) names.push(`m ${mnemonic}`);
  if (platform !== undefined) names.push(`p ${platform}`);
  return names;
}
