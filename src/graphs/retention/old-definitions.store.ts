import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/**
 * Deletes catalogs of branches that were replaced before a time. The present one of a branch stays, and the last one that
 * was pushed for it without a commit. Returns how many were deleted.
 */
export function deleteReplacedCatalogs(tx: Tx, before: Date, most: number): Promise<number> {
  return tx.run(sql`
    delete from branch_catalog where (repository, branch, number) in (
      select repository, branch, number from branch_catalog as old
      where since < ${before}
        and exists (
          select from branch_catalog as newer
          where newer.repository = old.repository and newer.branch = old.branch and newer.number > old.number
            and newer.since < ${before})
        and (old.commit is not null or exists (
          select from branch_catalog as newer
          where newer.repository = old.repository and newer.branch = old.branch and newer.number > old.number
            and newer.commit is null))
      limit ${most}
    )
  `);
}

/**
 * Deletes catalogs that no submission took since a time and that nothing refers to. What the farm knows of the
 * directories that they were read from goes with them: it is read again if it is needed. Returns how many were deleted.
 */
export async function deleteUnusedCatalogs(tx: Tx, before: Date, most: number): Promise<number> {
  const rows = await tx.many(
    z.object({ digest: z.string() }),
    sql`
      select digest from catalog
      where used_at < ${before}
        and not exists (select from graph where graph.catalog = catalog.digest)
        and not exists (select from graph where graph.template_catalog = catalog.digest)
        and not exists (select from branch_catalog where branch_catalog.catalog = catalog.digest)
        and not exists (select from watched_definitions where watched_definitions.catalog = catalog.digest)
      order by used_at limit ${most}
      for update skip locked
    `,
  );
  const digests = rows.map(({ digest }) => digest);
  if (digests.length === 0) return 0;
  await tx.run(sql`delete from catalog_source where catalog = any(${digests}::text[])`);
  await tx.run(sql`delete from catalog_entry where catalog = any(${digests}::text[])`);
  return tx.run(sql`delete from catalog where digest = any(${digests}::text[])`);
}

/** Returns definitions that no catalog has. A job that somebody customised may have them. */
export async function definitionsOfNoCatalog(tx: Tx, most: number): Promise<string[]> {
  const rows = await tx.many(
    z.object({ digest: z.string() }),
    sql`
      select digest from definition
      where not exists (select from catalog_entry where catalog_entry.definition = definition.digest)
        and not exists (select from job where job.definition = definition.digest)
        and not exists (select from job where job.template_definition = definition.digest)
      limit ${most}
    `,
  );
  return rows.map(({ digest }) => digest);
}

/** Deletes those of the definitions that still nothing has. The caller keeps others from storing definitions. */
export function deleteUnusedDefinitions(tx: Tx, digests: readonly string[]): Promise<number> {
  return tx.run(sql`
    delete from definition
    where digest = any(${digests}::text[])
      and not exists (select from catalog_entry where catalog_entry.definition = definition.digest)
      and not exists (select from job where job.definition = definition.digest)
      and not exists (select from job where job.template_definition = definition.digest)
  `);
}
