import { z } from "zod";
import { protectedDomain } from "#core/trust-domain.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const Result = z
  .object({
    action_digest: z.string(),
    result: z.instanceof(Uint8Array),
    execution_id: z.uuid().nullable(),
    written_by: z.string().nullable(),
    quarantined: z.boolean(),
  })
  .transform((row) => ({
    action: row.action_digest,
    /** An REv2 ActionResult, binary. */
    result: row.result,
    /** The principal or the execution that made the result. */
    producer: row.written_by ?? `execution ${row.execution_id ?? ""}`,
    isQuarantined: row.quarantined,
  }));
type ResultInDoubt = z.infer<typeof Result>;

/** Returns and locks the results of an action, by its hash and size, in all domains, until the transaction ends. */
export function resultsInDoubt(tx: Tx, project: string, action: string): Promise<ResultInDoubt[]> {
  return tx.many(
    Result,
    sql`
      select action_digest, result, execution_id, written_by, quarantined
      from action_result
      where project = ${project} and action_digest = ${action}
      order by domain
      for update
    `,
  );
}

/**
 * Puts all results of an action, named by its hash, into quarantine: none is returned, and none can be replaced.
 *
 * When there is no result, a row without bytes is stored. `saveActionResult` and `saveClientResult` compare the hash
 * only, because clients over HTTP do not state the size of the action.
 */
export async function quarantineResults(
  tx: Tx,
  project: string,
  hash: string,
  producer: string,
): Promise<void> {
  const hidden = await tx.run(sql`
    update action_result
    set quarantined = true
    where project = ${project} and split_part(action_digest, '/', 1) = ${hash}
  `);
  if (hidden > 0) return;
  await tx.run(sql`
    insert into action_result (project, domain, action_digest, result, written_by, quarantined)
    values (${project}, ${protectedDomain}, ${`${hash}/0`}, ${new Uint8Array()}, ${producer}, true)
    on conflict (project, domain, action_digest) do update set quarantined = true
  `);
}

/** Deletes quarantined results, so that the action is executed again. */
export function releaseResults(tx: Tx, project: string, hash: string): Promise<number> {
  return tx.run(sql`
    delete from action_result
    where project = ${project} and split_part(action_digest, '/', 1) = ${hash} and quarantined
  `);
}
