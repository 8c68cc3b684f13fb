import { actionsUsedWithin, actionsWithResults } from "#actions/many-results.store.ts";
import { entryNames, entryNamesUsedWithin } from "#caches/entry-names.store.ts";
import { addToFilter, type KeyFilter, keyFilterBuilder } from "#commit-index/key-filter.ts";
import type { ResultKey } from "#commit-index/result-key.ts";
import type { Clock } from "#core/clock.ts";
import { readableDomains } from "#core/readable-domains.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { Db } from "#db/db.ts";
import { takingTurns } from "#scheduling/take-turns.ts";

/** Much shorter than a build, and enough for a hundred granaries that start at once. */
const keptForMs = 5_000;
const mostProjects = 64;
const keysAtOnce = 10_000;
/**
 * A row that is written while a filter is made carries the start time of its transaction: no transaction takes longer
 * than this.
 */
const longestWriteSeconds = 10;
/**
 * Half of a filter's bits are set when it is made. With this many more set bits, 3 % of the absent keys are false
 * positives instead of 1 %.
 */
const mostAddedShare = 0.1;

/**
 * Returns a filter of all keys of a project's results; undefined when there are too many.
 *
 * A granary does not request a key that the filter excludes, but makes the result again. So the filter must contain
 * every result that existed when it was requested, even one that was written a moment before, by any server, client or
 * worker.
 */
type KeyFilters = (project: string) => Promise<KeyFilter | undefined>;

interface Kept {
  readonly at: number;
  readonly filter: Promise<KeyFilter | undefined>;
  /** The share of its bits that were set since it was made. */
  addedShare: number;
}

interface KeysParts {
  readonly db: Db;
  readonly clock: Clock;
  readonly domain: TrustDomain;
}

export function keyFilters(parts: KeysParts): KeyFilters {
  const { clock } = parts;
  const kept = new Map<string, Kept>();

  function make(project: string): Promise<KeyFilter | undefined> {
    const made: Kept = {
      at: clock.now().getTime(),
      filter: filterOf(parts, project),
      addedShare: 0,
    };
    kept.delete(project);
    kept.set(project, made);
    for (const oldest of kept.keys()) {
      if (kept.size <= mostProjects) break;
      kept.delete(oldest);
    }
    made.filter.catch(() => forget(project, made));
    return made.filter;
  }

  function forget(project: string, one: Kept): void {
    if (kept.get(project) === one) kept.delete(project);
  }

  return async (project) => {
    const known = kept.get(project);
    const ageMs = known === undefined ? 0 : clock.now().getTime() - known.at;
    if (known === undefined || ageMs >= keptForMs) return make(project);
    const [filter, recent] = await Promise.all([
      known.filter,
      keysWithin(parts, project, Math.max(0, ageMs) / 1_000 + longestWriteSeconds),
    ]);
    if (filter === undefined) return undefined;
    if (recent === undefined) return make(project);
    known.addedShare += addToFilter(filter, recent);
    if (known.addedShare > mostAddedShare) forget(project, known);
    return filter;
  };
}

/** Returns keys that were made within the last seconds, and some that were used; undefined when there are many. */
async function keysWithin(
  { db, domain }: KeysParts,
  project: string,
  seconds: number,
): Promise<ResultKey[] | undefined> {
  const within = { seconds, most: keysAtOnce };
  const [actions, names] = await Promise.all([
    actionsUsedWithin(db, project, readableDomains(domain), within),
    entryNamesUsedWithin(db, project, readableDomains(domain), within),
  ]);
  if (Math.max(actions.length, names.length) === keysAtOnce) return undefined;
  return [
    ...actions.map((key) => ({ namespace: "reapi" as const, key })),
    ...names.map(({ tool, key }) => ({ namespace: tool, key })),
  ];
}

/** Page by page, so that the keys are never all in memory. */
async function filterOf(
  { db, domain }: KeysParts,
  project: string,
): Promise<KeyFilter | undefined> {
  const turn = takingTurns();
  const builder = keyFilterBuilder();
  const domains = readableDomains(domain);
  for (let after = ""; ; ) {
    const keys = await actionsWithResults(db, project, domains, { after, most: keysAtOnce });
    for (const key of keys) {
      await turn();
      if (!builder.add({ namespace: "reapi", key })) return undefined;
    }
    after = keys.at(-1) ?? after;
    if (keys.length < keysAtOnce) break;
  }
  for (let after = { tool: "", key: "" }; ; ) {
    const names = await entryNames(db, project, domains, { after, most: keysAtOnce });
    for (const { tool, key } of names) {
      await turn();
      if (!builder.add({ namespace: tool, key })) return undefined;
    }
    after = names.at(-1) ?? after;
    if (names.length < keysAtOnce) break;
  }
  return builder.finish();
}
