import { z } from "zod";
import type { PlacePatterns } from "#core/place-patterns.ts";
import type { Tx } from "#db/db.ts";
import { inPlaces } from "#db/in-places.ts";
import { type Sql, sql } from "#db/sql.ts";
import { DefinitionDigest } from "#definitions/catalog.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { keepDefinitionsFromRemoval, takeCatalog } from "../catalog-use.store.ts";
import { insertDefinitions, insertEntries } from "../insert-definitions.store.ts";
import type { StoredJob } from "./catalog-of-jobs.ts";
import { entryKey, kindAndName, type TemplateCatalog } from "./template-catalog.ts";

const Digest = z.object({ digest: z.string() });

/**
 * Stores templates under their names; they stay for at least a day. Returns false when this catalog was already stored.
 */
export async function keepTemplates(tx: Tx, catalog: TemplateCatalog): Promise<boolean> {
  if (await takeCatalog(tx, catalog.digest, "templates")) return false;
  await keepDefinitionsFromRemoval(tx);
  const bodies = new Map<string, unknown>(
    catalog.entries.map(({ digest, body }) => [digest, body]),
  );
  const digests = [...bodies.keys()].toSorted();
  // In a catalog that is similar to the previous one, few bodies are new. Only these are sent.
  const missing = (
    await tx.many(
      Digest,
      sql`
        select digest from unnest(${digests}::text[]) as wanted (digest)
        where not exists (select from definition where definition.digest = wanted.digest)
      `,
    )
  ).map(({ digest }) => ({ digest, body: bodies.get(digest) }));
  await insertDefinitions(tx, missing);
  const inserted = await tx.run(sql`
    insert into catalog (digest, holds) values (${catalog.digest}, 'templates') on conflict do nothing
  `);
  const entries = catalog.entries.map((entry) => ({ name: entryKey(entry), digest: entry.digest }));
  await insertEntries(tx, catalog.digest, entries);
  return inserted > 0;
}

export async function isKept(tx: Tx, digest: string): Promise<boolean> {
  const found = await tx.many(
    Digest,
    sql`select digest from catalog where digest = ${digest} and holds = 'templates'`,
  );
  return found.length > 0;
}

const EntryRow = z.object({
  key: z.string(),
  digest: DefinitionDigest,
  body: z.unknown(),
});

/** Returns a stored catalog of templates; undefined when there is none of this name. */
export async function readTemplateCatalog(
  tx: Tx,
  digest: string,
): Promise<TemplateCatalog | undefined> {
  if (!(await isKept(tx, digest))) return undefined;
  const rows = await tx.many(
    EntryRow,
    sql`
      select entry.name as key, entry.definition as digest, definition.body
      from catalog_entry as entry join definition on definition.digest = entry.definition
      where entry.catalog = ${digest}
      order by entry.name collate "C"
    `,
  );
  const entries = rows.map(({ key, ...entry }) => ({ ...kindAndName(key), ...entry }));
  return { digest: DefinitionDigest.parse(digest), entries };
}

const JobRow = z.object({
  name: z.string(),
  digest: DefinitionDigest,
  definition: z.custom<JobDefinition>((body) => typeof body === "object"),
});

/** Returns the jobs of a graph's catalog; none when the catalog is unknown or holds templates. */
export function jobsOfCatalog(tx: Tx, digest: string): Promise<StoredJob[]> {
  return tx.many(
    JobRow,
    sql`
      select catalog_entry.name, definition.digest, definition.body as definition
      from catalog
      join catalog_entry on catalog_entry.catalog = catalog.digest
      join definition on definition.digest = catalog_entry.definition
      where catalog.digest = ${digest} and catalog.holds = 'jobs'
      order by catalog_entry.name collate "C"
    `,
  );
}

/** The content of a catalog: definitions as they were written, or the jobs of a graph. */
const Holds = z.enum(["templates", "jobs"]);
const FoundCatalog = z.object({ digest: z.string(), holds: Holds });
export type FoundCatalog = z.infer<typeof FoundCatalog>;

/**
 * Returns at most two catalogs by a digest or its beginning.
 *
 * Catalogs of jobs are returned only when no catalog of templates has this beginning, because there are many more of
 * them.
 */
export async function findCatalogs(
  tx: Tx,
  written: string,
  places: PlacePatterns,
): Promise<FoundCatalog[]> {
  if (!/^[0-9a-f]{4,64}(\/[0-9]*)?$/.test(written)) return [];
  const found = await tx.many(
    FoundCatalog,
    // `~` sorts after every character of a digest, so the range contains all digests with that
    // beginning.
    sql`
      select digest, holds from catalog
      where digest collate "C" >= ${written} and digest collate "C" < ${`${written}~`}
        and ${isUsedIn(places)}
      order by holds = 'jobs'
      limit 2
    `,
  );
  const [first, second] = found;
  return first?.holds === "templates" && second?.holds === "jobs" ? [first] : found;
}

/**
 * Returns the condition that a catalog is used at one of the places: by a commit's directory, by a branch or by a
 * graph. A caller with the digest alone does not get the definitions of a repository that it may not read.
 */
function isUsedIn(places: PlacePatterns): Sql {
  if (places.everywhere) return sql`true`;
  return sql`(
    exists (select from catalog_source
      where catalog_source.catalog = catalog.digest and ${inPlaces(places, sql`catalog_source.repository`)})
    or exists (select from branch_catalog
      where branch_catalog.catalog = catalog.digest
        and ${inPlaces(places, sql`branch_catalog.repository`, sql`branch_catalog.branch`)})
    or exists (select from graph
      where (graph.catalog = catalog.digest or graph.template_catalog = catalog.digest)
        and ${inPlaces(places, sql`graph.repository`, sql`graph.branch`)}))`;
}

const SummaryRow = z.object({
  digest: z.string(),
  createdAt: z.date().transform((date) => date.toISOString()),
  counts: z.record(z.string(), z.number()),
});

/** Returns the newest catalogs of templates that are used at the places; with a digest, that catalog. */
export function catalogSummaries(
  tx: Tx,
  {
    digest,
    limit = 50,
    places,
  }: { readonly digest?: string; readonly limit?: number; readonly places: PlacePatterns },
) {
  return tx.many(
    SummaryRow,
    sql`
      select catalog.digest, catalog.created_at as "createdAt", counted.counts
      from (
        select digest, created_at, holds from catalog
        where case when ${digest ?? null}::text is null then holds = 'templates' else digest = ${digest ?? null} end
          and ${isUsedIn(places)}
        order by created_at desc
        limit ${limit}
      ) as catalog
      cross join lateral (
        select coalesce(jsonb_object_agg(kind, count), '{}') as counts
        from (
          select case when catalog.holds = 'jobs' then 'job' else split_part(name, '/', 1) end as kind,
                 count(*) as count
          from catalog_entry where catalog = catalog.digest group by 1
        ) as by_kind
      ) as counted
      order by catalog.created_at desc
    `,
  );
}
