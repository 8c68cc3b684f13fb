import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const ExpectedRow = z.object({ job: z.string(), medianMs: z.number() });

/**
 * Returns how long jobs of a repository are expected to run, in ms: the median of their last 20
 * successful runs.
 *
 * Jobs that never succeeded are left out. History is some seconds old.
 */
export async function expectedDurations(
  tx: Tx,
  repository: string,
  jobs: readonly string[],
): Promise<Map<string, number>> {
  const rows = await tx.many(
    ExpectedRow,
    sql`
      select job, median_ms as "medianMs"
      from unnest(${jobs}::text[]) as asked (job)
      join job_history using (job)
      where repository = ${repository} and median_ms is not null
    `,
  );
  return new Map(rows.map(({ job, medianMs }) => [job, medianMs]));
}
