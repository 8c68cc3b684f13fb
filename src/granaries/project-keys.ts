import { actionsWithResults } from "#actions/many-results.store.ts";
import { entryNames } from "#caches/entry-names.store.ts";
import { takingTurns } from "#cas/take-turns.ts";
import { type KeyFilter, keyFilterBuilder } from "#commit-index/key-filter.ts";
import type { Clock } from "#core/clock.ts";
import { readableDomains } from "#core/readable-domains.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { Db } from "#db/db.ts";

/** Far less than a build takes, and enough for a hundred granaries that start at once. */
const keptForMs = 5_000;
const mostProjects = 64;
const keysAtOnce = 10_000;

/**
 * A filter of all keys of a project's results, made after `madeAfter`; undefined where there are too many.
 *
 * A granary does not ask for what the filter denies: one that is older than an index would deny what the index names.
 */
export type KeyFilters = (project: string, madeAfter?: Date) => Promise<KeyFilter | undefined>;

export function keyFilters(parts: {
  readonly db: Db;
  readonly clock: Clock;
  readonly domain: TrustDomain;
}): KeyFilters {
  const { clock } = parts;
  const kept = new Map<string, { readonly at: number; readonly filter: ReturnType<KeyFilters> }>();
  return (project, madeAfter) => {
    const now = clock.now().getTime();
    const known = kept.get(project);
    const isFresh =
      known !== undefined &&
      now - known.at < keptForMs &&
      (madeAfter === undefined || known.at > madeAfter.getTime());
    if (isFresh) return known.filter;
    const filter = filterOf(parts, project);
    kept.delete(project);
    kept.set(project, { at: now, filter });
    for (const oldest of kept.keys()) {
      if (kept.size <= mostProjects) break;
      kept.delete(oldest);
    }
    filter.catch(() => kept.delete(project));
    return filter;
  };
}

/** Page by page: the keys are never all here. */
async function filterOf(
  { db, domain }: { readonly db: Db; readonly domain: TrustDomain },
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
    const names = await entryNames(db, project, { after, most: keysAtOnce });
    for (const { tool, key } of names) {
      await turn();
      if (!builder.add({ namespace: tool, key })) return undefined;
    }
    after = names.at(-1) ?? after;
    if (names.length < keysAtOnce) break;
  }
  return builder.finish();
}
