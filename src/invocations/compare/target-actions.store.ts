import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { Outcome } from "#execution/execution.ts";

const Row = z.object({
  executionId: z.string(),
  actionDigest: z.string(),
  project: z.string(),
  invocation: z.string(),
  target: z.string(),
  mnemonic: z.string(),
  configuration: z.string(),
  outcome: Outcome.nullable(),
  worker: z.string().nullable(),
  requestedAt: z.date(),
});
/** An action that a build tool requested for a target. */
export type TargetAction = z.infer<typeof Row>;

const columns = sql`
  execution_id::text as "executionId", action_digest as "actionDigest", project, invocation,
  target_id as target, action_mnemonic as mnemonic, configuration_id as configuration, outcome,
  worker, requested_at as "requestedAt"
`;

/** Returns the latest request of an execution; undefined when no build tool requested it. */
export async function latestRequestOf(
  tx: Tx,
  executionId: string,
): Promise<TargetAction | undefined> {
  const [row] = await tx.many(
    Row,
    sql`
      select ${columns} from operation where execution_id = ${executionId}
      order by requested_at desc, id limit 1
    `,
  );
  return row;
}

/**
 * Returns the ended actions of the same target, mnemonic and configuration that were requested before, the newest first,
 * without cancelled ones. A target may have several actions of one mnemonic: the outputs tell them apart.
 */
export async function earlierActionsOf(
  tx: Tx,
  { project, target, mnemonic, configuration, requestedAt }: TargetAction,
  most: number,
): Promise<TargetAction[]> {
  if (target === "") return [];
  return tx.many(
    Row,
    sql`
      select ${columns} from operation
      where project = ${project} and target_id = ${target} and target_id <> ''
        and action_mnemonic = ${mnemonic} and requested_at < ${requestedAt}
        and configuration_id = ${configuration}
        and outcome is not null and outcome <> 'cancelled'
      order by requested_at desc limit ${most}
    `,
  );
}
