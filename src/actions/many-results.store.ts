import { z } from "zod";
import { type Digest, digestKey, parseDigestKey } from "#core/digest.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { SealedRow, sealedColumns, sealedStatementOf } from "./action-result.store.ts";

const FoundResult = SealedRow.extend({ last_used_at: z.date() }).transform((row) => ({
  ...sealedStatementOf(row),
  actionDigest: parseDigestKey(row.action_digest),
  lastUsedAt: row.last_used_at,
}));
export type FoundResult = z.infer<typeof FoundResult>;

/**
 * Returns the results of many actions in these domains, workers' and clients'; those of one action in the order of the
 * domains. `ResultSeals` verifies their signatures.
 */
export function resultsOfActions(
  tx: Tx,
  project: string,
  domains: readonly TrustDomain[],
  actions: readonly Digest[],
): Promise<FoundResult[]> {
  if (actions.length === 0) return Promise.resolve([]);
  return tx.many(
    FoundResult,
    sql`
      select ${sealedColumns}, last_used_at
      from unnest(${actions.map(digestKey)}::text[]) as asked (action_digest)
        join action_result using (action_digest)
      where project = ${project}
        and domain = any(${domains}::text[])
        and not quarantined
      order by action_digest, array_position(${domains}::text[], domain)
    `,
  );
}

/** Records that results were used, at most once an hour. */
export async function touchResultsOf(
  tx: Tx,
  project: string,
  domains: readonly TrustDomain[],
  actions: readonly Digest[],
): Promise<void> {
  if (actions.length === 0) return;
  await tx.run(sql`
    update action_result
    set last_used_at = now()
    where project = ${project}
      and domain = any(${domains}::text[])
      and action_digest = any(${actions.map(digestKey)}::text[])
      and last_used_at < now() - interval '1 hour'
  `);
}

const Key = z.object({ action_digest: z.string() });

/** Returns actions that have results there, in the order of their names, starting behind `after`. */
export async function actionsWithResults(
  tx: Tx,
  project: string,
  domains: readonly TrustDomain[],
  { after, most }: { readonly after: string; readonly most: number },
): Promise<string[]> {
  const rows = await tx.many(
    Key,
    sql`
      select distinct action_digest
      from action_result
      where project = ${project}
        and domain = any(${domains}::text[])
        and action_digest > ${after}
        and not quarantined
      order by action_digest
      limit ${most}
    `,
  );
  return rows.map((row) => row.action_digest);
}

/** Returns at most `most` actions whose results were made or used recently. */
export async function actionsUsedWithin(
  tx: Tx,
  project: string,
  domains: readonly TrustDomain[],
  { seconds, most }: { readonly seconds: number; readonly most: number },
): Promise<string[]> {
  const rows = await tx.many(
    Key,
    sql`
      select action_digest
      from action_result
      where last_used_at >= now() - make_interval(secs => ${seconds})
        and project = ${project}
        and domain = any(${domains}::text[])
        and not quarantined
      limit ${most}
    `,
  );
  return rows.map((row) => row.action_digest);
}
