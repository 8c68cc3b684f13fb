import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const Offence = z.object({
  principal: z.string(),
  count: z.number(),
  worker: z.string(),
  what: z.string(),
  at: z.date(),
  quarantinedAt: z.date().nullable(),
});
type Offence = z.infer<typeof Offence>;

const columns = sql`principal, count, worker, what, at, quarantined_at as "quarantinedAt"`;

/** Counts an offence of a principal as a worker; the `most`-th offence quarantines the principal. */
export async function noteOffence(
  tx: Tx,
  { principal, worker, what }: Pick<Offence, "principal" | "worker" | "what">,
  most: number,
  now: Date,
): Promise<Offence> {
  const [row] = await tx.many(
    Offence,
    sql`
      insert into worker_offence (principal, count, worker, what, at, quarantined_at)
      values (${principal}, 1, ${worker}, ${what}, ${now}, ${most <= 1 ? now : null})
      on conflict (principal) do update
      set count = worker_offence.count + 1, worker = excluded.worker, what = excluded.what, at = excluded.at,
          quarantined_at = coalesce(worker_offence.quarantined_at,
            case when worker_offence.count + 1 >= ${most} then excluded.at end)
      returning ${columns}
    `,
  );
  return row as Offence;
}

export function listQuarantined(tx: Tx): Promise<Offence[]> {
  return tx.many(
    Offence,
    sql`select ${columns} from worker_offence where quarantined_at is not null order by principal`,
  );
}

/** Deletes the offences of a principal. Returns false when there were none. */
export async function forgetOffences(tx: Tx, principal: string): Promise<boolean> {
  return (await tx.run(sql`delete from worker_offence where principal = ${principal}`)) > 0;
}
