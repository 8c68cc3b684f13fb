import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { LimitedJob } from "../catalogs/hold-to-limits.ts";
import type { GraphId } from "../graph-id.ts";

const Row = z.object({ name: z.string(), definition: z.unknown() });

/** Jobs as they would run now; those of `uncustomised` as they were before somebody customised them. */
export function limitedJobs(
  tx: Tx,
  graphId: GraphId,
  jobs: readonly string[],
  uncustomised: readonly string[],
): Promise<LimitedJob[]> {
  return tx.many(
    Row,
    sql`
      select job.name, definition.body as definition
      from job
      join definition on definition.digest = case
        when job.name = any(${uncustomised}::text[]) then coalesce(job.template_definition, job.definition)
        else job.definition end
      where job.graph_id = ${graphId} and job.name = any(${jobs}::text[])
      order by job.name
    `,
  );
}
