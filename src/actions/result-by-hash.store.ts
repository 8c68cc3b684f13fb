import { z } from "zod";
import { parseDigestKey } from "#core/digest.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const FoundResult = z
  .object({ action_digest: z.string(), result: z.instanceof(Uint8Array) })
  .transform((row) => ({
    actionDigest: parseDigestKey(row.action_digest),
    /** An REv2 ActionResult, binary. */
    result: row.result,
  }));

/** Results of the action with this hash, whatever its size. One hash has one, for all that anybody knows. */
export function resultsByHash(
  tx: Tx,
  project: string,
  domain: TrustDomain,
  hash: string,
): Promise<z.infer<typeof FoundResult>[]> {
  return tx.many(
    FoundResult,
    sql`
      select action_digest, result
      from action_result
      where project = ${project}
        and split_part(action_digest, '/', 1) = ${hash}
        and domain = ${domain}
        and not quarantined
      limit 2
    `,
  );
}
