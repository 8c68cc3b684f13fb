import { z } from "zod";
import { parseDigestKey } from "#core/digest.ts";
import { TrustDomain } from "#core/trust-domain.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const UnusedEntry = z.object({
  /**
   * The position of its row in the order of last use. Times are text, because PostgreSQL's are finer than JavaScript's.
   */
  usedAt: z.string(),
  project: z.string(),
  tool: z.string(),
  key: z.string(),
  domain: TrustDomain,
  digest: z.string().transform(parseDigestKey),
});
export type UnusedEntry = z.infer<typeof UnusedEntry>;

/** Returns entries that were not used since then, the least recently used first, starting behind `after`. */
export function unusedEntries(
  tx: Tx,
  before: Date,
  after: UnusedEntry | undefined,
  most: number,
): Promise<UnusedEntry[]> {
  return tx.many(
    UnusedEntry,
    sql`
      select last_used_at::text as "usedAt", project, tool, key, domain, digest
      from cache_entry
      where last_used_at < ${before} and not quarantined
        and (last_used_at, project, tool, key, domain) > (
          coalesce(${after?.usedAt ?? null}::timestamptz, '-infinity'), ${after?.project ?? ""},
          ${after?.tool ?? ""}, ${after?.key ?? ""}, ${after?.domain ?? ""}
        )
      order by last_used_at, project, tool, key, domain
      limit ${most}
    `,
  );
}

/**
 * Deletes entries that are unchanged since they were read; those that were used or replaced since stay. Returns how
 * many were deleted.
 */
export function forgetEntries(tx: Tx, entries: readonly UnusedEntry[]): Promise<number> {
  return tx.run(sql`
    delete from cache_entry
    using unnest(
      ${entries.map(({ project }) => project)}::text[],
      ${entries.map(({ tool }) => tool)}::text[],
      ${entries.map(({ key }) => key)}::text[],
      ${entries.map(({ domain }) => domain)}::text[],
      ${entries.map(({ usedAt }) => usedAt)}::timestamptz[]
    ) as unused (project, tool, key, domain, used_at)
    where cache_entry.project = unused.project
      and cache_entry.tool = unused.tool
      and cache_entry.key = unused.key
      and cache_entry.domain = unused.domain
      and cache_entry.last_used_at = unused.used_at
      and not cache_entry.quarantined
  `);
}

/** Returns entries that were used since then, the most recently used last, starting behind `after`. */
export function entriesUsedSince(
  tx: Tx,
  since: Date,
  after: UnusedEntry | undefined,
  most: number,
): Promise<UnusedEntry[]> {
  return tx.many(
    UnusedEntry,
    sql`
      select last_used_at::text as "usedAt", project, tool, key, domain, digest
      from cache_entry
      where last_used_at >= ${since}
        and (last_used_at, project, tool, key, domain) > (
          coalesce(${after?.usedAt ?? null}::timestamptz, '-infinity'), ${after?.project ?? ""},
          ${after?.tool ?? ""}, ${after?.key ?? ""}, ${after?.domain ?? ""}
        )
      order by last_used_at, project, tool, key, domain
      limit ${most}
    `,
  );
}
