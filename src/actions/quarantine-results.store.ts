import { z } from "zod";
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
    /** Who made it: a principal, or the execution of a worker. */
    producer: row.written_by ?? `execution ${row.execution_id ?? ""}`,
    isQuarantined: row.quarantined,
  }));
export type ResultInDoubt = z.infer<typeof Result>;

/** The results of an action, by its hash and size, in all domains: nothing changes them until the transaction is over. */
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

/** From now on these results are given to nobody, and nothing takes their place. By the actions' hashes. */
export function quarantineResults(tx: Tx, project: string, hash: string): Promise<number> {
  return tx.run(sql`
    update action_result
    set quarantined = true
    where project = ${project} and split_part(action_digest, '/', 1) = ${hash}
  `);
}

/** Forgets results that are in quarantine, so that they are made again. */
export function releaseResults(tx: Tx, project: string, hash: string): Promise<number> {
  return tx.run(sql`
    delete from action_result
    where project = ${project} and split_part(action_digest, '/', 1) = ${hash} and quarantined
  `);
}
