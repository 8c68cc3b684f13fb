import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { benchmarkChannel } from "./channels.ts";

/** Notifies the processes that wait for jobs or for their end, when this transaction commits. */
export async function notifyBenchmarkChange(tx: Tx, suite = ""): Promise<void> {
  await tx.run(sql`select pg_notify(${benchmarkChannel}, ${suite})`);
}
