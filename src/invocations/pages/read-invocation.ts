import type { InvocationDetail } from "#api/invocation.ts";
import type { Db } from "#db/db.ts";
import { buildDetail } from "../build-events/build-detail.ts";
import { type InvocationName, invocationRow } from "./invocation-row.store.ts";
import { summariesOf } from "./summaries.ts";

/** Returns an invocation without its actions and its waiting reason; undefined when it is unknown. */
export function readInvocation(
  db: Db,
  name: InvocationName,
  now: Date,
): Promise<Omit<InvocationDetail, "waiting"> | undefined> {
  return db.transaction(async (tx) => {
    const row = await invocationRow(tx, name);
    const [summary] = row === undefined ? [] : await summariesOf(tx, [row], now);
    if (row === undefined || summary === undefined) return undefined;
    const events = summary.build && (await buildDetail(tx, name.project, name.id));
    return { ...summary, correlatedId: row.correlatedId, events: events ?? null };
  });
}
