import { z } from "zod";
import type { BranchCatalog } from "#api/branch.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { DefinitionDigest } from "#definitions/catalog.ts";
import type { JobPlaces } from "#definitions/job-places.ts";

const Found = z.object({ catalog: DefinitionDigest });
const FoundTree = Found.extend({ hasPlaces: z.boolean() });

/**
 * Returns the catalog of a directory of definitions, by Git's id of the directory; undefined when it was not read yet.
 */
export async function catalogOfTree(
  tx: Tx,
  repository: string,
  tree: string,
): Promise<z.infer<typeof FoundTree> | undefined> {
  const [row] = await tx.many(
    FoundTree,
    sql`select catalog, places is not null as "hasPlaces" from catalog_source where repository = ${repository} and tree = ${tree}`,
  );
  return row;
}

/** Stores which catalog a directory contains, and the places of its jobs. Neither ever changes. */
export async function rememberTree(
  tx: Tx,
  source: {
    readonly repository: string;
    readonly tree: string;
    readonly catalog: string;
    readonly places: JobPlaces;
  },
): Promise<void> {
  await tx.run(sql`
    insert into catalog_source (repository, tree, catalog, places)
    values (${source.repository}, ${source.tree}, ${source.catalog}, ${JSON.stringify(source.places)}::jsonb)
    on conflict (repository, tree) do update set places = excluded.places
      where catalog_source.places is null
  `);
}

const BranchCatalogRow = z.object({
  branch: z.string(),
  catalog: z.string(),
  commit: z.string().nullable(),
  setBy: z.string(),
  since: z.date().transform((date) => date.toISOString()),
});

/** Returns the catalog that a branch uses now, and since when; undefined when it has none yet. */
export async function branchCatalog(
  tx: Tx,
  repository: string,
  branch: string,
): Promise<BranchCatalog | undefined> {
  const [row] = await tx.many(
    BranchCatalogRow,
    sql`
      select branch, catalog, commit, set_by as "setBy", since
      from branch_catalog
      where repository = ${repository} and branch = ${branch}
      order by number desc
      limit 1
    `,
  );
  return row;
}

/** Returns the catalogs that the branches of a repository use now. */
export function branchCatalogs(tx: Tx, repository: string): Promise<BranchCatalog[]> {
  return tx.many(
    BranchCatalogRow,
    sql`
      select distinct on (branch) branch, catalog, commit, set_by as "setBy", since
      from branch_catalog
      where repository = ${repository}
      order by branch, number desc
    `,
  );
}

/** Returns the newest catalog that was pushed for a branch without a commit. */
export async function pushedCatalog(
  tx: Tx,
  repository: string,
  branch: string,
): Promise<DefinitionDigest | undefined> {
  const [row] = await tx.many(
    Found,
    sql`
      select catalog
      from branch_catalog
      where repository = ${repository} and branch = ${branch} and commit is null
      order by number desc
      limit 1
    `,
  );
  return row?.catalog;
}

interface BranchPointer {
  readonly repository: string;
  readonly branch: string;
  readonly catalog: string;
  /** Null when it was pushed. */
  readonly commit: string | null;
  readonly setBy: string;
}

/** Lets a branch use a catalog from now on. Written only when it used another one. */
export async function pointBranchAt(tx: Tx, pointer: BranchPointer): Promise<void> {
  const { repository, branch, catalog, commit, setBy } = pointer;
  await tx.run(sql`
    insert into branch_catalog (repository, branch, catalog, commit, set_by)
    select ${repository}, ${branch}, ${catalog}, ${commit}::text, ${setBy}
    where not exists (
      select from (
        select catalog, commit is null as pushed
        from branch_catalog
        where repository = ${repository} and branch = ${branch}
        order by number desc
        limit 1
      ) as newest
      where newest.catalog = ${catalog} and newest.pushed = (${commit}::text is null)
    )
  `);
}
