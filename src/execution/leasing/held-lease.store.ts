import { z } from "zod";
import { parseDigestKey } from "#core/digest.ts";
import { TrustDomain } from "#core/trust-domain.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId } from "../execution.ts";

const HeldLease = z.object({
  executionId: ExecutionId,
  attempt: z.number(),
  epoch: z.number(),
  project: z.string(),
  domain: TrustDomain,
  actionDigest: z.string().transform(parseDigestKey),
});
export type HeldLease = z.infer<typeof HeldLease>;

/** Returns the current leases of executions that a worker has and nobody has cancelled, in no order. */
export function heldLeases(tx: Tx, ids: readonly string[]): Promise<HeldLease[]> {
  return tx.many(
    HeldLease,
    sql`
      select id as "executionId", attempt, epoch, project, domain, action_digest as "actionDigest"
      from execution
      where id = any(${ids}::uuid[]) and state = 'leased' and cancel_requested_at is null
    `,
  );
}
