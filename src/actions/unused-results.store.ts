import { z } from "zod";
import { parseDigestKey } from "#core/digest.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const UnusedResult = z.object({
  /**
   * The position of its row in the order of last use. Times are text, because PostgreSQL's are finer than JavaScript's.
   */
  usedAt: z.string(),
  project: z.string(),
  domain: z.string(),
  action: z.string(),
  actionDigest: z.string().transform(parseDigestKey),
  /** An REv2 ActionResult, binary. */
  result: z.instanceof(Uint8Array),
});
export type UnusedResult = z.infer<typeof UnusedResult>;

/** Returns results that were not used since then, the least recently used first, starting behind `after`. */
export function unusedResults(
  tx: Tx,
  before: Date,
  after: UnusedResult | undefined,
  most: number,
): Promise<UnusedResult[]> {
  return tx.many(
    UnusedResult,
    sql`
      select last_used_at::text as "usedAt", project, domain, action_digest as action,
        action_digest as "actionDigest", result
      from action_result
      where last_used_at < ${before} and not quarantined
        and (last_used_at, project, domain, action_digest) > (
          coalesce(${after?.usedAt ?? null}::timestamptz, '-infinity'), ${after?.project ?? ""},
          ${after?.domain ?? ""}, ${after?.action ?? ""}
        )
      order by last_used_at, project, domain, action_digest
      limit ${most}
    `,
  );
}

/**
 * Deletes unused results; those that were used or replaced since they were read stay. Returns how many were deleted.
 */
export function forgetResults(tx: Tx, results: readonly UnusedResult[]): Promise<number> {
  return tx.run(sql`
    delete from action_result
    using unnest(
      ${results.map(({ project }) => project)}::text[],
      ${results.map(({ domain }) => domain)}::text[],
      ${results.map(({ action }) => action)}::text[],
      ${results.map(({ usedAt }) => usedAt)}::timestamptz[]
    ) as unused (project, domain, action_digest, used_at)
    where action_result.project = unused.project
      and action_result.domain = unused.domain
      and action_result.action_digest = unused.action_digest
      and action_result.last_used_at = unused.used_at
      and not action_result.quarantined
  `);
}

/** Returns results that were used since then, the most recently used last, starting behind `after`. */
export function resultsUsedSince(
  tx: Tx,
  since: Date,
  after: UnusedResult | undefined,
  most: number,
): Promise<UnusedResult[]> {
  return tx.many(
    UnusedResult,
    sql`
      select last_used_at::text as "usedAt", project, domain, action_digest as action,
        action_digest as "actionDigest", result
      from action_result
      where last_used_at >= ${since}
        and (last_used_at, project, domain, action_digest) > (
          coalesce(${after?.usedAt ?? null}::timestamptz, '-infinity'), ${after?.project ?? ""},
          ${after?.domain ?? ""}, ${after?.action ?? ""}
        )
      order by last_used_at, project, domain, action_digest
      limit ${most}
    `,
  );
}
