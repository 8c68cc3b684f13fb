import { messageOf } from "#core/fault.ts";
import { type CatalogServices, definitionsAt } from "./graph-definitions.ts";
import { keepListOfSources, noteSource, takeSourceToRead } from "./watched-definitions.store.ts";

/** A push is noticed so soon, at the latest; a local repository or a remote that has nothing new answers in moments. */
export const watchEveryMs = 60_000;

/**
 * Looks at the repositories that branches have as the source of their definitions, and stores the definitions of commits that
 * are new there: they are known, and can be compared and signed, before anybody submits a graph of them. Returns how many
 * sources it read.
 *
 * Any number of servers may do it at once. What is wrong with a source is noted for people, and is no failure of the look.
 */
export async function watchDefinitions(services: CatalogServices, now: Date): Promise<number> {
  const { db } = services;
  if (!(await keepListOfSources(db, now))) return 0;
  // A little sooner than the next look, which would otherwise just miss it.
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
