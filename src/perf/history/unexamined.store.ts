import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/**
 * Makes artifacts on the list due again: a server that examines them may not see the data of this transaction, and its
 * removal from the list will then fail.
 */
export async function queueForExamination(
  tx: Tx,
  artifactIds: readonly number[],
  dueAt: Date,
): Promise<void> {
  // Always in the same order, so that two transactions with the same two artifacts cannot deadlock.
  await tx.run(sql`
    insert into benchmark_unexamined (artifact_id, due_at)
    select id, ${dueAt}::timestamptz from benchmark_artifact
    where id = any(${artifactIds}::int[]) and kind = 'master'
    order by id
    on conflict (artifact_id) do update set due_at = excluded.due_at, taken = null
  `);
}

interface Taken {
  readonly artifactId: number;
  /** The removal from the list requires this ticket. */
  readonly ticket: string;
}

/** Takes the artifact that has waited longest until `again`; another server takes another one. */
export async function takeUnexamined(
  tx: Tx,
  now: Date,
  again: Date,
  ticket: string,
): Promise<Taken | undefined> {
  const [taken] = await tx.many(
    z.object({ artifactId: z.number() }),
    sql`
      update benchmark_unexamined set due_at = ${again}, taken = ${ticket}
      where artifact_id = (
        select artifact_id from benchmark_unexamined
        where due_at <= ${now}
        order by due_at, artifact_id
        limit 1 for update skip locked
      )
      returning artifact_id as "artifactId"
    `,
  );
  return taken === undefined ? undefined : { ...taken, ticket };
}

export async function markExamined(tx: Tx, { artifactId, ticket }: Taken): Promise<void> {
  await tx.run(sql`
    delete from benchmark_unexamined where artifact_id = ${artifactId} and taken = ${ticket}
  `);
}
