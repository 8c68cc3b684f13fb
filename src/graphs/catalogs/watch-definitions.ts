import { messageOf } from "#core/fault.ts";
import { type CatalogServices, definitionsAt } from "./graph-definitions.ts";
import { keepListOfSources, noteSource, takeSourceToRead } from "./watched-definitions.store.ts";

/** A push is noticed after at most this time; checking a local or unchanged remote repository is fast. */
export const watchEveryMs = 60_000;

/**
 * Reads the repositories that are the source of branches' definitions, and stores the definitions of new commits: they
 * can be compared and signed before a graph of them is submitted. Returns how many sources it read.
 *
 * Any number of servers may do it at the same time. A problem of a source is stored for people; the call does not fail.
 */
export async function watchDefinitions(services: CatalogServices, now: Date): Promise<number> {
  const { db } = services;
  if (!(await keepListOfSources(db, now))) return 0;
  // Slightly before the next check, which would otherwise just miss it.
  const nextAt = new Date(now.getTime() + watchEveryMs * 0.9);
  for (let read = 0; ; read++) {
    const source = await takeSourceToRead(db, now, nextAt);
    if (source === undefined) return read;
    try {
      const { repository, rev } = source;
      const commit = await services.mirrors.fetchCommit(repository, rev);
      const from = await definitionsAt(services, commit);
      await db.transaction(async (tx) => {
        await from.keep(tx);
        const catalog = from.catalog.digest;
        await noteSource(tx, source, { commit: commit.sha, catalog }, now);
      });
    } catch (reason) {
      await noteSource(db, source, { problem: messageOf(reason) }, now);
    }
  }
}
