import { z } from "zod";
import { JobKind } from "#api/graph.ts";
import { JobState } from "#api/job-state.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import type { GraphId } from "../graph-id.ts";

const ReleasableRow = z.object({
  kind: JobKind,
  state: JobState,
  /** The number of its latest run. */
  run: z.number(),
  definition: z.custom<JobDefinition>((body) => typeof body === "object"),
  repository: z.string(),
  branch: z.string(),
});

/** Returns the facts for releasing a job; undefined when there is no such job. */
export async function releasableJob(
  tx: Tx,
  graphId: GraphId,
  name: string,
): Promise<z.infer<typeof ReleasableRow> | undefined> {
  const [row] = await tx.many(
    ReleasableRow,
    sql`
      select job.kind, job.state, job.runs as run, definition.body as definition,
             graph.repository, graph.branch
      from job
      join graph on graph.id = job.graph_id
      join definition on definition.digest = job.definition
      where job.graph_id = ${graphId} and job.name = ${name}
    `,
  );
  return row;
}
