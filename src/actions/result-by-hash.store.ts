import type { z } from "zod";
import { parseDigestKey } from "#core/digest.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { SealedRow, sealedColumns, sealedStatementOf } from "./action-result.store.ts";

const FoundResult = SealedRow.transform((row) => ({
  ...sealedStatementOf(row),
  actionDigest: parseDigestKey(row.action_digest),
}));

/**
 * Returns the results of the action with this hash in these domains, in the order of the domains, whatever its size.
 */
export function resultsByHash(
  tx: Tx,
  project: string,
  domains: readonly TrustDomain[],
  hash: string,
): Promise<z.infer<typeof FoundResult>[]> {
  return tx.many(
    FoundResult,
    sql`
      select ${sealedColumns}
      from action_result
      where project = ${project}
        and split_part(action_digest, '/', 1) = ${hash}
        and domain = any(${domains}::text[])
        and not quarantined
      order by array_position(${domains}::text[], domain), action_digest
      limit 4
    `,
  );
}
