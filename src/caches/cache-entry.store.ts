import { z } from "zod";
import { CacheTool } from "#api/tool-cache.ts";
import { digestKey, parseDigestKey } from "#core/digest.ts";
import { protectedDomain, TrustDomain } from "#core/trust-domain.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { CacheEntry, EntryName, EntryQuery, NewCacheEntry } from "./tool-rules.ts";

const StoredEntry = z
  .object({
    project: z.string(),
    tool: CacheTool,
    key: z.string(),
    domain: TrustDomain,
    digest: z.string(),
    attributes: z.record(z.string(), z.string()),
    created_at: z.date(),
    last_used_at: z.date(),
  })
  .transform(
    (row): CacheEntry => ({
      project: row.project,
      tool: row.tool,
      key: row.key,
      domain: row.domain,
      digest: parseDigestKey(row.digest),
      attributes: row.attributes,
      createdAt: row.created_at,
      lastUsedAt: row.last_used_at,
    }),
  );

/** An entry, with the reader for which it was found. */
type FoundEntry = CacheEntry & Pick<EntryQuery, "reader">;
const FoundEntry = z.intersection(z.object({ reader: TrustDomain }), StoredEntry);

/**
 * Returns the entries that readers may read, in no order; at most one for each query.
 *
 * The reader's own domain comes before `protected`. If one of the two is in quarantine, the name has no entry.
 */
export function entriesNamed(tx: Tx, queries: readonly EntryQuery[]): Promise<FoundEntry[]> {
  return tx.many(
    FoundEntry,
    sql`
      select reader, project, tool, key, domain, digest, attributes, created_at, last_used_at
      from (
        select distinct on (named.of, project, tool, key)
          named.of as reader, project, tool, key, domain, digest, attributes, created_at,
          last_used_at, quarantined
        from ${namesTable(
          queries,
          queries.map(({ reader }) => reader),
        )} join cache_entry using (project, tool, key)
        where domain in (named.of, ${protectedDomain})
        order by named.of, project, tool, key, quarantined desc, domain = named.of desc
      ) as first
      where not quarantined
    `,
  );
}

/**
 * Stores entries; each replaces an older one of its domain. All names must be different within a domain.
 *
 * An existing entry with the same bytes is only marked as used. A name in quarantine is not stored.
 */
export async function replaceEntries(tx: Tx, entries: readonly NewCacheEntry[]): Promise<void> {
  await tx.run(sql`
    insert into cache_entry (project, tool, key, domain, digest, size_bytes, attributes, principal)
    select project, tool, key, domain, digest, size_bytes, attributes::jsonb, principal
    from ${entriesTable(entries)}
    where not ${isHidden}
    on conflict (project, tool, key, domain) do update
    set digest = excluded.digest,
        size_bytes = excluded.size_bytes,
        attributes = excluded.attributes,
        principal = excluded.principal,
        created_at = excluded.created_at,
        last_used_at = excluded.last_used_at
    where not cache_entry.quarantined
      and ((cache_entry.digest, cache_entry.attributes) is distinct from (excluded.digest, excluded.attributes)
        or cache_entry.last_used_at < now() - interval '1 hour')
  `);
}

/** Whether the name of a row `given` is in quarantine for all domains. */
const isHidden = sql`exists (
  select from cache_entry as hidden
  where hidden.project = given.project and hidden.tool = given.tool and hidden.key = given.key
    and hidden.domain = ${protectedDomain} and hidden.quarantined
)`;

/** Stores an entry if there is none of that name in its domain; returns whether it did. */
export async function addEntry(tx: Tx, entry: NewCacheEntry): Promise<boolean> {
  const added = await tx.run(sql`
    insert into cache_entry (project, tool, key, domain, digest, size_bytes, attributes, principal)
    select project, tool, key, domain, digest, size_bytes, attributes::jsonb, principal
    from ${entriesTable([entry])}
    where not ${isHidden}
    on conflict (project, tool, key, domain) do nothing
  `);
  return added > 0;
}

export async function removeEntry(
  tx: Tx,
  { project, tool, key }: EntryName,
  domain: TrustDomain,
): Promise<boolean> {
  const removed = await tx.run(sql`
    delete from cache_entry
    where project = ${project} and tool = ${tool} and key = ${key} and domain = ${domain}
      and not quarantined
  `);
  return removed > 0;
}

/** Removes an entry if it still has the bytes that were read. Returns whether it was removed. */
export async function removeAsRead(tx: Tx, entry: CacheEntry): Promise<boolean> {
  const removed = await tx.run(sql`
    delete from cache_entry
    where project = ${entry.project} and tool = ${entry.tool} and key = ${entry.key}
      and domain = ${entry.domain}
      and digest = ${digestKey(entry.digest)}
      and not quarantined
      and date_trunc('milliseconds', created_at) = ${entry.createdAt}
  `);
  return removed > 0;
}

/** Records that entries were used. Once an hour is enough, because deletion works with days. */
export async function touchEntries(
  tx: Tx,
  entries: readonly (EntryName & { readonly domain: TrustDomain })[],
): Promise<void> {
  await tx.run(sql`
    update cache_entry
    set last_used_at = now()
    from ${namesTable(
      entries,
      entries.map(({ domain }) => domain),
    )}
    where cache_entry.project = named.project
      and cache_entry.tool = named.tool
      and cache_entry.key = named.key
      and cache_entry.domain = named.of
      and cache_entry.last_used_at < now() - interval '1 hour'
  `);
}

/** Deletes some unused entries; returns how many. Their blobs are evicted when the store needs space. */
export function forgetUnusedEntries(tx: Tx, before: Date): Promise<number> {
  return tx.run(sql`
    delete from cache_entry
    where (project, tool, key, domain) in (
      select project, tool, key, domain from cache_entry
      where last_used_at < ${before} and not quarantined
      order by last_used_at
      limit 5000
      for update skip locked
    )
  `);
}

const StoredTotals = z
  .object({
    project: z.string(),
    tool: CacheTool,
    entries: z.number(),
    bytes: z.number(),
    last_used_at: z.date(),
  })
  .transform(({ last_used_at, ...row }) => ({ ...row, lastUsedAt: last_used_at }));
export type CacheTotals = z.infer<typeof StoredTotals>;

/** Returns the totals by project and tool, over all domains. Reads every entry, so it is for a page and not for a loop. */
export function cacheTotals(tx: Tx): Promise<CacheTotals[]> {
  return tx.many(
    StoredTotals,
    sql`
      select project, tool, count(*) as entries, sum(size_bytes)::bigint as bytes,
        max(last_used_at) as last_used_at
      from cache_entry
      group by project, tool
      order by project, tool
    `,
  );
}

/** Columns of `named`: project, tool, key, and the domain that belongs to each name. */
function namesTable(names: readonly EntryName[], domains: readonly TrustDomain[]) {
  return sql`unnest(
    ${names.map(({ project }) => project)}::text[],
    ${names.map(({ tool }) => tool)}::text[],
    ${names.map(({ key }) => key)}::text[],
    ${domains}::text[]
  ) as named (project, tool, key, of)`;
}

function entriesTable(entries: readonly NewCacheEntry[]) {
  return sql`unnest(
    ${entries.map(({ project }) => project)}::text[],
    ${entries.map(({ tool }) => tool)}::text[],
    ${entries.map(({ key }) => key)}::text[],
    ${entries.map(({ domain }) => domain)}::text[],
    ${entries.map(({ digest }) => digestKey(digest))}::text[],
    ${entries.map(({ digest }) => digest.sizeBytes)}::bigint[],
    ${entries.map(({ attributes }) => JSON.stringify(attributes))}::text[],
    ${entries.map(({ principal }) => principal)}::text[]
  ) as given (project, tool, key, domain, digest, size_bytes, attributes, principal)`;
}
