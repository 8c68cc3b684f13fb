import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { LimitedJob } from "../catalogs/hold-to-limits.ts";
import type { GraphId } from "../graph-id.ts";

const Row = z.object({ name: z.string(), definition: z.unknown() });

/** Returns jobs as they would run now; those in `uncustomised` without their customisation. */
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
