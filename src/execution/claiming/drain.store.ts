import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { type Sql, sql } from "#db/sql.ts";

/** Drains were added or removed. No payload. */
export const drainChannel = "grange_drain";

const Drain = z.object({
  /** A pattern of workers' names; `*` stands for any number of characters. */
  pattern: z.string(),
  reason: z.string(),
  createdBy: z.string(),
  createdAt: z.date(),
});
/** A request that workers, present and future ones, accept nothing new. */
export type Drain = z.infer<typeof Drain>;

/** Whether a worker is drained, or reported that it takes no new executions. For a row of `worker`. */
export const takesNothingNew: Sql = sql`
  (worker.draining or exists (
    select from drain
    where worker.name like replace(replace(replace(replace(
      drain.pattern, '\\', '\\\\'), '%', '\\%'), '_', '\\_'), '*', '%')))
`;

/** Whether a worker claims nothing at present: it is drained, or has reported a problem. For a row of `worker`. */
export const claimsNothing: Sql = sql`(worker.trouble is not null or ${takesNothingNew})`;

export function listDrains(tx: Tx): Promise<Drain[]> {
  return tx.many(
    Drain,
    sql`
      select pattern, reason, created_by as "createdBy", created_at as "createdAt"
      from drain order by pattern
    `,
  );
}

/** Drains workers; the latest reason is kept. Running executions continue to their end. */
export async function addDrain(tx: Tx, drain: Drain): Promise<void> {
  await tx.run(sql`
    insert into drain (pattern, reason, created_by, created_at)
    values (${drain.pattern}, ${drain.reason}, ${drain.createdBy}, ${drain.createdAt})
    on conflict (pattern) do update
    set reason = excluded.reason, created_by = excluded.created_by, created_at = excluded.created_at
  `);
  await notifyDrains(tx);
}

/** Removes a drain; returns whether it existed. */
export async function removeDrain(tx: Tx, pattern: string): Promise<boolean> {
  const removed = await tx.run(sql`delete from drain where pattern = ${pattern}`);
  await notifyDrains(tx);
  return removed > 0;
}

async function notifyDrains(tx: Tx): Promise<void> {
  await tx.run(sql`select pg_notify(${drainChannel}, '')`);
}
