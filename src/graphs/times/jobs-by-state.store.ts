import { z } from "zod";
import { JobState } from "#api/job-state.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const StateRow = z.object({ state: JobState, jobs: z.number() });

/** Counts the jobs of unfinished graphs by state. Uses the counts stored with the graphs and reads no job. */
export async function jobsByState(tx: Tx): Promise<ReadonlyMap<JobState, number>> {
  const rows = await tx.many(
    StateRow,
    sql`
      select counted.key as state, sum(counted.value::bigint)::bigint as jobs
      from graph, jsonb_each_text(graph.counts) as counted
      where graph.state = 'running'
      group by counted.key
    `,
  );
  return new Map(rows.map(({ state, jobs }) => [state, jobs]));
}
