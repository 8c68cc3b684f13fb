import { z } from "zod";
import { RunOutcome } from "#api/graph.ts";
import { JobState } from "#api/job-state.ts";
import type { Selection } from "#api/selection/selection.ts";
import { CommitSha } from "#core/commit-sha.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { GraphId } from "./graph-id.ts";
import { reasonColumn } from "./reason-column.store.ts";
import { selectedJobs } from "./times/selected-jobs.store.ts";

const GraphOfCommit = z.object({ commit: CommitSha, graphId: GraphId });

/**
 * Returns existing graphs of commits whose results a search may use, the newest first.
 *
 * These use definitions that the repository has or had, without given values or customised jobs, and contain all jobs
 * or those of the search. A graph with fewer jobs or other switches could show a commit as good that is not.
 */
export function graphsOfCommits(
  tx: Tx,
  {
    repository,
    selection,
    commits,
  }: {
    readonly repository: string;
    readonly selection: string;
    readonly commits: readonly CommitSha[];
  },
): Promise<z.infer<typeof GraphOfCommit>[]> {
  return tx.many(
    GraphOfCommit,
    sql`
      select graph.commit, graph.id as "graphId"
      from graph
      where graph.repository = ${repository} and graph.commit = any(${commits}::text[])
        and (graph.named is null or not exists (
          select from catalog_entry as entry join definition as named on named.digest = entry.definition
          where entry.catalog = graph.template_catalog and entry.name = 'graph/' || graph.named
            and named.body ?| array['select', 'switches', 'parameters']))
        and (graph.selection is null or graph.selection = ${selection})
        and graph.given = '{"parameters": {}, "switches": {}}'
        and exists (
          select from catalog_source as source
          where source.repository = graph.repository and source.catalog = graph.template_catalog)
        and not exists (select from job where job.graph_id = graph.id and job.patch is not null)
      order by graph.number desc
    `,
  );
}

/** The part of a job that a search needs. */
export interface SearchedJob {
  readonly name: string;
  readonly state: JobState;
  /** The reason for its state, for people. */
  readonly reason: string | null;
  /** How its finished runs ended, the newest first. */
  readonly outcomes: readonly RunOutcome[];
  /** A customised job gives no information about the commit, and neither do the other jobs without it. */
  readonly isCustomised: boolean;
}

const SearchedRow = z.object({
  graphId: GraphId,
  name: z.string(),
  state: JobState,
  reason: z.string().nullable(),
  outcomes: z.array(RunOutcome),
  isCustomised: z.boolean(),
});

/** The selected jobs of graphs. */
export async function searchedJobs(
  tx: Tx,
  graphs: readonly GraphId[],
  selection: Selection,
  sameResults: number,
): Promise<Map<GraphId, SearchedJob[]>> {
  const found = new Map<GraphId, SearchedJob[]>();
  if (graphs.length === 0) return found;
  const rows = await tx.many(
    SearchedRow,
    sql`
      select job.graph_id as "graphId", job.name, job.state, ${reasonColumn} as reason, job.patch is not null as "isCustomised",
             array(
               select run.outcome from run
               where run.graph_id = job.graph_id and run.job = job.name and run.state = 'finished'
               order by run.number desc
               limit ${4 * sameResults}
             ) as outcomes
      from job
      where job.graph_id = any(${graphs}::uuid[]) and ${selectedJobs(selection)}
    `,
  );
  for (const { graphId, ...job } of rows) {
    const others = found.get(graphId);
    if (others === undefined) found.set(graphId, [job]);
    else others.push(job);
  }
  return found;
}

/** Returns those graphs of a set that are not over and were made by a search of this kind. */
export async function searchGraphsUnderWay(
  tx: Tx,
  set: GraphId,
  kind: "backfill" | "bisect",
): Promise<GraphId[]> {
  const rows = await tx.many(
    z.object({ id: GraphId }),
    sql`
      select graph.id from graph
      where graph.set_id = ${set} and graph.state = 'running'
        and (graph.parent_kind = ${kind} or graph.id = ${set})
      order by graph.id
    `,
  );
  return rows.map((row) => row.id);
}
