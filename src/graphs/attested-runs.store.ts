import { z } from "zod";
import { protectedDomain } from "#core/trust-domain.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { GraphId } from "./graph-id.ts";

/**
 * Runs that a worker executed for a protected graph: not runs that another machine reported, and not cache hits, whose
 * results belong to other runs.
 */
const isAttested = sql`
  run.state = 'finished' and run.outcome = 'succeeded' and not run.cached
  and run.execution_id is not null and run.result is not null and run.action_digest is not null
  and run.served_by = 'execution' and graph.domain = ${protectedDomain}
`;

const Finished = z.object({
  graphId: z.string(),
  job: z.string(),
  run: z.number(),
  finishedAt: z.date(),
  result: z.instanceof(Uint8Array),
});

export function attestedSince(
  tx: Tx,
  since: Date,
  most: number,
): Promise<z.infer<typeof Finished>[]> {
  return tx.many(
    Finished,
    sql`
      select graph_id as "graphId", job, run.number as run, run.finished_at as "finishedAt", result
      from run join graph on graph.id = run.graph_id
      where run.finished_at >= ${since} and ${isAttested}
      order by run.finished_at limit ${most}
    `,
  );
}

const Attested = z.object({
  /** Where its action and its outputs are. */
  project: z.string(),
  graph: z.object({
    id: GraphId,
    repository: z.string(),
    url: z.string(),
    commit: z.string(),
    branch: z.string(),
    parameters: z.unknown(),
    switches: z.unknown(),
    catalog: z.string(),
    submittedBy: z.string(),
  }),
  executionId: z.string(),
  attempt: z.number(),
  worker: z.string().nullable(),
  actionDigest: z.string(),
  startedAt: z.date().nullable(),
  finishedAt: z.date(),
  result: z.instanceof(Uint8Array),
});
export type AttestedRunRow = z.infer<typeof Attested>;

/** Returns undefined for a run that the farm does not attest. */
export async function attestedRun(
  tx: Tx,
  at: { readonly graphId: string; readonly job: string; readonly run: number },
): Promise<AttestedRunRow | undefined> {
  const [row] = await tx.many(
    Attested,
    sql`
      select graph.project, json_build_object('id', graph.id, 'repository', graph.repository, 'url', repository.url,
               'commit', graph.commit, 'branch', graph.branch, 'parameters', graph.parameters,
               'switches', graph.switches, 'catalog', graph.catalog, 'submittedBy', graph.submitted_by) as graph,
             execution_id as "executionId", attempt, worker, action_digest as "actionDigest", run.started_at as "startedAt",
             run.finished_at as "finishedAt", result
      from run join graph on graph.id = run.graph_id join repository on repository.name = graph.repository
      where graph_id = ${at.graphId} and job = ${at.job} and run.number = ${at.run} and ${isAttested}
    `,
  );
  return row;
}
