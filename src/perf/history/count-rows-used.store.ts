import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const RestsOn = z.object({
  iterations: z.number(),
  predecessors: z.number(),
  pairs: z.number(),
  errors: z.number(),
  noise: z.number(),
});

/**
 * Counts all rows on which a comparison depends. Measurements are append-only: when the counts are equal, the figures
 * are equal.
 */
export async function countRowsUsed(
  tx: Tx,
  of: { readonly before: number; readonly after: number; readonly predecessors: readonly number[] },
): Promise<z.infer<typeof RestsOn> | undefined> {
  const both = [of.before, of.after];
  const [row] = await tx.many(
    RestsOn,
    sql`
      select
        (select coalesce(sum(iterations), 0)::int from benchmark_measured where artifact_id = any(${both}::int[])) as iterations,
        (select coalesce(sum(results), 0)::int from benchmark_measured
         where artifact_id = any(${of.predecessors}::int[])) as predecessors,
        (select count(*)::int from benchmark_pair
         where artifact_id = ${of.after} and against_id = ${of.before}) as pairs,
        (select count(*)::int from benchmark_error where artifact_id = any(${both}::int[])) as errors,
        (select count(*)::int from benchmark_noise
         where case_id in (select case_id from benchmark_result where artifact_id = any(${both}::int[])
                           union select case_id from benchmark_pair where artifact_id = ${of.after})) as noise
    `,
  );
  return row;
}
