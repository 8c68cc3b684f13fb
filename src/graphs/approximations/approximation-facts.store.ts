import { z } from "zod";
import { JobKind, RunOutcome } from "#api/graph.ts";
import { JobState } from "#api/job-state.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { GraphId } from "../graph-id.ts";

const Given = z.object({ from: z.string(), gave: z.string(), goesWithout: z.boolean() });

const JobFacts = z.object({
  graphId: GraphId,
  /** The job at the chain's beginning. */
  of: z.string(),
  job: z.string(),
  finder: z.string().nullable(),
  kind: JobKind,
  outside: z.boolean(),
  approximation: z.enum(["open", "hit", "missed"]).nullable(),
  isCustomised: z.boolean(),
  state: JobState,
  runs: z.number(),
  stale: z.boolean(),
  outcome: RunOutcome.nullable(),
  definition: z.custom<JobDefinition>((body) => typeof body === "object"),
  given: z.array(Given),
});
/** The facts about a job and its graph from which its action follows. */
export type JobFacts = z.infer<typeof JobFacts>;

/** Longer chains of jobs that find each other's inputs are prepared without a lookup ahead. */
export const longestChain = 8;

/**
 * Returns jobs, each followed by the job that finds its inputs, the finder of that one, and so on.
 *
 * For a job that has run, the inputs are those of that run: its list follows from them.
 */
export async function factsOf(
  tx: Tx,
  jobs: readonly { readonly graphId: GraphId; readonly job: string }[],
): Promise<Map<string, JobFacts[]>> {
  const rows = await tx.many(
    JobFacts,
    sql`
      with recursive chain (graph_id, first, name, finder, step) as (
        select job.graph_id, job.name, job.name, job.finder, 0
        from unnest(${jobs.map(({ graphId }) => graphId)}::uuid[], ${jobs.map(({ job }) => job)}::text[]) as n (graph_id, name)
        join job on job.graph_id = n.graph_id and job.name = n.name
        union all
        select job.graph_id, chain.first, job.name, job.finder, chain.step + 1
        from chain
        join job on job.graph_id = chain.graph_id and job.name = chain.finder
        where chain.step < ${longestChain}::integer
      )
      select chain.graph_id as "graphId", chain.first as of, job.name as job, job.finder, job.kind, job.outside,
             job.approximation, job.template_definition is not null as "isCustomised", job.state, job.runs, job.stale,
             run.outcome, definition.body as definition,
             coalesce((
               select jsonb_agg(jsonb_build_object(
                 'from', edge.on_job, 'gave', coalesce(case when job.runs > 0 then edge.taken end, source.yield),
                 'goesWithout', edge.waived_by is not null or coalesce(source.set_aside = 'expired-good', false))
                 order by edge.on_job)
               from edge join job as source on source.graph_id = edge.graph_id and source.name = edge.on_job
               where edge.graph_id = job.graph_id and edge.job = job.name and edge.on_job is distinct from job.finder
             ), '[]') as given
      from chain
      join job on job.graph_id = chain.graph_id and job.name = chain.name
      join definition on definition.digest = job.definition
      left join run on run.graph_id = job.graph_id and run.job = job.name and run.number = job.runs
      order by chain.graph_id, chain.first, chain.step
    `,
  );
  const chains = new Map<string, JobFacts[]>();
  for (const row of rows) {
    const key = chainKey({ graphId: row.graphId, job: row.of });
    const chain = chains.get(key);
    if (chain === undefined) chains.set(key, [row]);
    else chain.push(row);
  }
  return chains;
}

export function chainKey({ graphId, job }: { readonly graphId: string; readonly job: string }) {
  return `${graphId} ${job}`;
}
