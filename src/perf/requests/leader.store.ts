import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/**
 * Takes or extends a duty; returns false while another server has it. The clock of the database decides, because
 * servers share it.
 */
export async function acquireDuty(
  tx: Tx,
  duty: string,
  holder: string,
  forMs: number,
): Promise<boolean> {
  const held = await tx.run(sql`
    insert into benchmark_leader as leader (duty, holder, until)
    values (${duty}, ${holder}, now() + make_interval(secs => ${forMs / 1_000}))
    on conflict (duty) do update set holder = excluded.holder, until = excluded.until
    where leader.holder = excluded.holder or leader.until <= now()
  `);
  return held > 0;
}

/** Releases a duty, so that another server can take it at once. */
export async function releaseDuty(tx: Tx, duty: string, holder: string): Promise<void> {
  await tx.run(sql`delete from benchmark_leader where duty = ${duty} and holder = ${holder}`);
}
