import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/**
 * Takes a catalog for a submission: it stays for at least a day from now on. Returns false when there is no such catalog
 * or when it is being removed; the caller then stores it.
 *
 * The row is changed at most once a day. This change waits for a transaction that removes the catalog, and then finds no
 * row; and a removal waits for this change, and then finds a catalog in use.
 */
export async function takeCatalog(
  tx: Tx,
  digest: string,
  holds: "templates" | "jobs",
): Promise<boolean> {
  const taken = await tx.many(
    z.object({ digest: z.string() }),
    sql`
      with found as (
        select digest, used_at > now() - interval '1 day' as is_fresh from catalog
        where digest = ${digest} and holds = ${holds}
      ),
      touched as (
        update catalog set used_at = now() from found
        where catalog.digest = found.digest and not found.is_fresh
        returning catalog.digest
      )
      select digest from found where is_fresh union all select digest from touched
    `,
  );
  return taken.length > 0;
}

/**
 * Held by transactions that store definitions together with what refers to them. Definitions are removed only while no
 * such transaction is under way: it finds some of its definitions stored already, and locks no row of these.
 */
const definitionsLock = sql`hashtext('grange definitions')`;

/** Called before definitions are stored; until the transaction ends, none are removed. */
export async function keepDefinitionsFromRemoval(tx: Tx): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock_shared(${definitionsLock})`);
}

/** Called before definitions are removed; until the transaction ends, none are stored. */
export async function keepDefinitionsFromStoring(tx: Tx): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock(${definitionsLock})`);
}
