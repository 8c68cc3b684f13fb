import { z } from "zod";
import { type RetentionAge, type RetentionKind, retentionKinds } from "#api/retention.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const dayMs = 24 * 60 * 60_000;

/**
 * The default retention of each kind, in ms; null: for ever.
 *
 * Runs of graphs contain the data that people look for; executions contain only the data that the queue needed.
 * Invocations show the latest builds. The audit log records the actions of principals, and it is small. Definitions that
 * no graph has are kept as long as graphs, so that a branch that rests does not lose them.
 */
const defaultKeepMs: Readonly<Record<RetentionKind, number | null>> = {
  executions: 7 * dayMs,
  invocations: 30 * dayMs,
  audit: null,
  definitions: 180 * dayMs,
  "benchmark-jobs": 30 * dayMs,
};

const AgeRow = z.object({
  kind: z.enum(retentionKinds),
  keepMs: z.number().nullable(),
  setBy: z.string(),
});

/** Returns how long each kind is kept. */
export async function retentionAges(tx: Tx): Promise<RetentionAge[]> {
  const rows = await tx.many(
    AgeRow,
    sql`select kind, keep_ms as "keepMs", set_by as "setBy" from retention_age`,
  );
  return retentionKinds.map((kind) => {
    const set = rows.find((row) => row.kind === kind);
    return set ?? { kind, keepMs: defaultKeepMs[kind], setBy: null };
  });
}

/** Returns how long a kind is kept, in ms; null: for ever. */
export async function retentionAgeMs(tx: Tx, kind: RetentionKind): Promise<number | null> {
  const age = (await retentionAges(tx)).find((each) => each.kind === kind);
  return age?.keepMs ?? null;
}

export async function setRetentionAge(
  tx: Tx,
  age: { readonly kind: RetentionKind; readonly keepMs: number | null; readonly setBy: string },
  now: Date,
): Promise<void> {
  await tx.run(sql`
    insert into retention_age (kind, keep_ms, set_by, set_at)
    values (${age.kind}, ${age.keepMs}, ${age.setBy}, ${now})
    on conflict (kind) do update
    set keep_ms = excluded.keep_ms, set_by = excluded.set_by, set_at = excluded.set_at
  `);
}
