import { z } from "zod";
import { type Platform, requirementsOf } from "#core/platform.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { isWithinFence } from "./served-by.store.ts";

const Idle = z.object({ slots: z.number() });

/** Counts the idle slots of workers that serve a platform and were seen since `seen`. */
export async function idleSlots(
  tx: Tx,
  required: { readonly platform: Platform; readonly sizeClass: number },
  seen: Date,
): Promise<number> {
  const requirements = sql`${JSON.stringify(requirementsOf(required.platform))}::jsonb`;
  const [row] = await tx.many(
    Idle,
    sql`
      select coalesce(sum(greatest(0, known.slots - held.count)), 0)::integer as slots
      from worker as known
      cross join lateral (
        select count(*) from execution where state = 'leased' and execution.worker = known.name
      ) as held
      where not known.draining and known.last_seen_at > ${seen} and known.size_class >= ${required.sizeClass}
        and known.platform @> ${requirements}
        and ${isWithinFence(requirements, sql`known.platform`)}
    `,
  );
  return row?.slots ?? 0;
}
