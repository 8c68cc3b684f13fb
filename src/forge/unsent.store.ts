import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const Unsent = z.object({
  repository: z.string(),
  key: z.string(),
  attempts: z.number(),
  nextAt: z.date(),
  error: z.string().nullable(),
  failedAt: z.date().nullable(),
});
type Unsent = z.infer<typeof Unsent>;

/** Rows that the forge does not show yet: those with problems first. */
export function unsentOf(tx: Tx, repository: string, most: number): Promise<Unsent[]> {
  return tx.many(
    Unsent,
    sql`
      select repository, key, attempts, next_at as "nextAt", error, failed_at as "failedAt"
      from forge_outbox
      where repository = ${repository} and sent_revision < revision
      order by failed_at nulls last, attempts desc, key limit ${most}
    `,
  );
}

const Count = z.object({ repository: z.string(), open: z.number() });

export async function countOpenPulls(tx: Tx): Promise<ReadonlyMap<string, number>> {
  const counts = await tx.many(
    Count,
    sql`select repository, count(*)::int as open from forge_pull where state = 'open' group by repository`,
  );
  return new Map(counts.map(({ repository, open }) => [repository, open]));
}
