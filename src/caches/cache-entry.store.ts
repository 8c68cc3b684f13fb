import { z } from "zod";
import { CacheTool } from "#api/tool-cache.ts";
import { digestKey, parseDigestKey } from "#core/digest.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { CacheEntry, EntryName, NewCacheEntry } from "./tool-rules.ts";

const StoredEntry = z
  .object({
    project: z.string(),
    tool: CacheTool,
    key: z.string(),
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
      digest: parseDigestKey(row.digest),
      attributes: row.attributes,
      createdAt: row.created_at,
      lastUsedAt: row.last_used_at,
    }),
  );

/** Returns the existing entries with these names, in no order. */
export function entriesNamed(tx: Tx, names: readonly EntryName[]): Promise<CacheEntry[]> {
  return tx.many(
    StoredEntry,
    sql`
      select project, tool, key, digest, attributes, created_at, last_used_at
      from ${namesTable(names)} join cache_entry using (project, tool, key)
      where not quarantined
    `,
  );
}

/**
 * Stores entries; each replaces an older one, except one in quarantine. All names must be different.
 *
 * An existing entry with the same bytes is only marked as used.
 */
export async function replaceEntries(tx: Tx, entries: readonly NewCacheEntry[]): Promise<void> {
  await tx.run(sql`
    insert into cache_entry (project, tool, key, digest, size_bytes, attributes, principal)
    select project, tool, key, digest, size_bytes, attributes::jsonb, principal
    from ${entriesTable(entries)}
    on conflict (project, tool, key) do update
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

/** Stores an entry if there is none of that name; returns whether it did. */
export async function addEntry(tx: Tx, entry: NewCacheEntry): Promise<boolean> {
  const added = await tx.run(sql`
    insert into cache_entry (project, tool, key, digest, size_bytes, attributes, principal)
    select project, tool, key, digest, size_bytes, attributes::jsonb, principal
    from ${entriesTable([entry])}
    on conflict (project, tool, key) do nothing
  `);
  return added > 0;
}

export async function removeEntry(tx: Tx, { project, tool, key }: EntryName): Promise<boolean> {
  const removed = await tx.run(sql`
    delete from cache_entry
    where project = ${project} and tool = ${tool} and key = ${key} and not quarantined
  `);
  return removed > 0;
}

/** Removes an entry if it still has the bytes that were read. Returns whether it was removed. */
export async function removeAsRead(tx: Tx, entry: CacheEntry): Promise<boolean> {
  const removed = await tx.run(sql`
    delete from cache_entry
    where project = ${entry.project} and tool = ${entry.tool} and key = ${entry.key}
      and digest = ${digestKey(entry.digest)}
      and not quarantined
      and date_trunc('milliseconds', created_at) = ${entry.createdAt}
  `);
  return removed > 0;
}

/** Records that entries were used. Once an hour is enough, because deletion works with days. */
export async function touchEntries(tx: Tx, names: readonly EntryName[]): Promise<void> {
  await tx.run(sql`
    update cache_entry
    set last_used_at = now()
    from ${namesTable(names)}
    where cache_entry.project = named.project
      and cache_entry.tool = named.tool
      and cache_entry.key = named.key
      and cache_entry.last_used_at < now() - interval '1 hour'
  `);
}

/** Deletes some unused entries; returns how many. Their blobs are evicted when the store needs space. */
export function forgetUnusedEntries(tx: Tx, before: Date): Promise<number> {
  return tx.run(sql`
    delete from cache_entry
    where (project, tool, key) in (
      select project, tool, key from cache_entry
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

/** Returns the totals by project and tool. Reads every entry, so it is for a page and not for a loop. */
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

function namesTable(names: readonly EntryName[]) {
  return sql`unnest(
    ${names.map(({ project }) => project)}::text[],
    ${names.map(({ tool }) => tool)}::text[],
    ${names.map(({ key }) => key)}::text[]
  ) as named (project, tool, key)`;
}

function entriesTable(entries: readonly NewCacheEntry[]) {
  return sql`unnest(
    ${entries.map(({ project }) => project)}::text[],
    ${entries.map(({ tool }) => tool)}::text[],
    ${entries.map(({ key }) => key)}::text[],
    ${entries.map(({ digest }) => digestKey(digest))}::text[],
    ${entries.map(({ digest }) => digest.sizeBytes)}::bigint[],
    ${entries.map(({ attributes }) => JSON.stringify(attributes))}::text[],
    ${entries.map(({ principal }) => principal)}::text[]
  ) as given (project, tool, key, digest, size_bytes, attributes, principal)`;
}
