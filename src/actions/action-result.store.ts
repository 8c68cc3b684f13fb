import { z } from "zod";
import { type Digest, digestKey } from "#core/digest.ts";
import { TrustDomain } from "#core/trust-domain.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/** Which result: an action's, in a project and a domain. */
export interface ActionResultKey {
  readonly project: string;
  readonly domain: TrustDomain;
  readonly actionDigest: Digest;
}

const StoredActionResult = z
  .object({
    domain: TrustDomain,
    result: z.instanceof(Uint8Array),
    execution_id: z.uuid(),
    attempt: z.number(),
    created_at: z.date(),
  })
  .transform((row) => ({
    domain: row.domain,
    /** An REv2 ActionResult, binary. */
    result: row.result,
    executionId: row.execution_id,
    attempt: row.attempt,
    createdAt: row.created_at,
  }));
export type StoredActionResult = z.infer<typeof StoredActionResult>;

/** The results of an action in these domains, in the order of the domains. */
export function actionResultsIn(
  tx: Tx,
  project: string,
  domains: readonly TrustDomain[],
  actionDigest: Digest,
): Promise<StoredActionResult[]> {
  return tx.many(
    StoredActionResult,
    sql`
      select domain, result, execution_id, attempt, created_at
      from action_result
      where project = ${project}
        and domain = any(${domains}::text[])
        and action_digest = ${digestKey(actionDigest)}
      order by array_position(${domains}::text[], domain)
    `,
  );
}

export interface NewActionResult extends ActionResultKey {
  readonly result: Uint8Array;
  readonly executionId: string;
  readonly attempt: number;
}

/**
 * Keeps a result; it takes the place of an older one.
 *
 * An action is executed again only when its result was not to be used, or not to
 * be had. The new one has its blobs.
 */
export async function saveActionResult(tx: Tx, saved: NewActionResult): Promise<void> {
  await tx.run(sql`
    insert into action_result (project, domain, action_digest, result, execution_id, attempt)
    values (
      ${saved.project}, ${saved.domain}, ${digestKey(saved.actionDigest)},
      ${saved.result}, ${saved.executionId}, ${saved.attempt}
    )
    on conflict (project, domain, action_digest) do update
    set result = excluded.result,
        execution_id = excluded.execution_id,
        attempt = excluded.attempt,
        created_at = excluded.created_at,
        last_used_at = excluded.last_used_at
    where (action_result.execution_id, action_result.attempt)
      <> (excluded.execution_id, excluded.attempt)
  `);
}

/** Notes that a result was used. Within an hour once is enough; eviction thinks in days. */
export async function touchActionResult(tx: Tx, key: ActionResultKey): Promise<void> {
  await tx.run(sql`
    update action_result
    set last_used_at = now()
    where project = ${key.project}
      and domain = ${key.domain}
      and action_digest = ${digestKey(key.actionDigest)}
      and last_used_at < now() - interval '1 hour'
  `);
}
