import { z } from "zod";
import type { JobCoalescing } from "#api/coalescing.ts";
import { RunOutcome } from "#api/graph.ts";
import { JobState } from "#api/job-state.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { GraphId } from "../graph-id.ts";

const JobOfCommit = z.object({
  graphId: z.string(),
  job: z.string(),
  commit: z.string(),
  subject: z.string(),
  state: JobState,
});
const Answering = JobOfCommit.extend({ outcome: RunOutcome.nullable() });

/** Returns how a job relates to others of its key; undefined when there is no such job. */
export async function jobCoalescing(
  tx: Tx,
  graphId: GraphId,
  job: string,
): Promise<JobCoalescing | undefined> {
  // The job into which one was coalesced may itself be coalesced. Each is newer than the one before, so there is no
  // cycle.
  const chain = await tx.many(
    Answering,
    sql`
      with recursive answering (graph_id, name, step) as (
        select ${graphId}::uuid, ${job}::text, 0
        union all
        select job.coalesced_graph, job.coalesced_job, step + 1
        from answering
        join job on job.graph_id = answering.graph_id and job.name = answering.name
        where job.set_aside = 'coalesced' and step < 10000
      )
      select job.graph_id as "graphId", job.name as job, graph.commit, graph.subject, job.state, run.outcome
      from answering
      join job on job.graph_id = answering.graph_id and job.name = answering.name
      join graph on graph.id = job.graph_id
      left join run on run.graph_id = job.graph_id and run.job = job.name and run.number = job.runs
      order by step
    `,
  );
  const own = chain[0];
  if (own === undefined) return undefined;
  const answersFor = await answeredBy(tx, graphId, job);
  return {
    into: chain.length > 1 ? (chain.at(-1) ?? null) : null,
    answersFor,
    bisect:
      own.state === "failed" && answersFor.length > 0
        ? await rangeToBisect(tx, graphId, job)
        : null,
  };
}

function answeredBy(tx: Tx, graphId: GraphId, job: string): Promise<z.infer<typeof JobOfCommit>[]> {
  return tx.many(
    JobOfCommit,
    sql`
      with recursive answered (graph_id, name) as (
        select ${graphId}::uuid, ${job}::text
        union
        select job.graph_id, job.name
        from answered
        join job on job.coalesced_graph = answered.graph_id and job.coalesced_job = answered.name
        where job.set_aside = 'coalesced'
      )
      select job.graph_id as "graphId", job.name as job, graph.commit, graph.subject, job.state
      from answered
      join job on job.graph_id = answered.graph_id and job.name = answered.name
      join graph on graph.id = job.graph_id
      where (job.graph_id, job.name) <> (${graphId}::uuid, ${job}::text)
      order by graph.number desc
      limit 200
    `,
  );
}

const Range = z.object({
  repository: z.string(),
  good: z.string(),
  bad: z.string(),
});

/** Returns the range from the branch's last commit on which the job succeeded to the commit on which it failed. */
async function rangeToBisect(
  tx: Tx,
  graphId: GraphId,
  job: string,
): Promise<JobCoalescing["bisect"]> {
  const [range] = await tx.many(
    Range,
    sql`
      select failed.repository, good.commit as good, failed.commit as bad
      from graph as failed
      join lateral (
        select graph.commit
        from graph
        join job on job.graph_id = graph.id and job.name = ${job} and job.state = 'succeeded'
        where graph.repository = failed.repository and graph.branch = failed.branch
          and graph.number < failed.number and graph.commit <> failed.commit
        order by graph.number desc
        limit 1
      ) as good on true
      where failed.id = ${graphId}
    `,
  );
  if (range === undefined) return null;
  return { ...range, selection: `name:"${job}"` };
}
