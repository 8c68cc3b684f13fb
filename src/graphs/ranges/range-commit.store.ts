import { z } from "zod";
import { RunOutcome } from "#api/graph.ts";
import { JobState } from "#api/job-state.ts";
import type { CommitStanding } from "#api/search.ts";
import type { Selection } from "#api/selection/selection.ts";
import { CommitSha } from "#core/commit-sha.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { GraphId } from "../graph-id.ts";
import { reasonColumn } from "../reason-column.store.ts";
import { selectedJobs } from "../times/selected-jobs.store.ts";
import type { SearchedJob } from "./judge-commit.ts";
import type { SearchId } from "./search.store.ts";

/** Where a commit of a search stands now. */
export interface StandingOfCommit {
  readonly position: number;
  readonly standing: Exclude<CommitStanding, "unknown">;
  readonly graphId: GraphId | null;
  readonly why: string | null;
}

export async function saveStandings(
  tx: Tx,
  id: SearchId,
  commits: readonly StandingOfCommit[],
): Promise<void> {
  if (commits.length === 0) return;
  await tx.run(sql`
    update range_commit
    set standing = c.standing, graph_id = coalesce(c.graph_id, range_commit.graph_id), why = c.why
    from unnest(${commits.map(({ position }) => position)}::integer[],
                ${commits.map(({ standing }) => standing)}::text[],
                ${commits.map(({ graphId }) => graphId)}::uuid[],
                ${commits.map(({ why }) => why)}::text[]) as c (position, standing, graph_id, why)
    where range_commit.search_id = ${id} and range_commit.position = c.position
  `);
}

const KnownRow = z.object({
  position: z.number(),
  standing: z.enum(["asked", "good", "bad", "skipped"]),
});

/** What is known of a search's commits; of a long range that is little. */
export async function knownStandings(
  tx: Tx,
  id: SearchId,
): Promise<Map<number, z.infer<typeof KnownRow>["standing"]>> {
  const rows = await tx.many(
    KnownRow,
    sql`
      select position, standing from range_commit
      where search_id = ${id} and standing in ('asked', 'good', 'bad', 'skipped')
    `,
  );
  return new Map(rows.map(({ position, standing }) => [position, standing]));
}

const RequestedCommit = z.object({ position: z.number(), commit: CommitSha, graphId: GraphId });
export type RequestedCommit = z.infer<typeof RequestedCommit>;

/** Commits whose jobs are under way. */
export function requestedCommits(tx: Tx, id: SearchId): Promise<RequestedCommit[]> {
  return tx.many(
    RequestedCommit,
    sql`
      select position, commit, graph_id as "graphId" from range_commit
      where search_id = ${id} and standing = 'asked'
      order by position desc
    `,
  );
}

const OpenCommit = z.object({ position: z.number(), commit: CommitSha });
export type OpenCommit = z.infer<typeof OpenCommit>;

/** Commits that nobody has asked for yet, the newest first. */
export function unknownCommits(tx: Tx, id: SearchId, most: number): Promise<OpenCommit[]> {
  return tx.many(
    OpenCommit,
    sql`
      select position, commit from range_commit
      where search_id = ${id} and standing = 'unknown'
      order by position desc
      limit ${most}
    `,
  );
}

export function commitsAt(
  tx: Tx,
  id: SearchId,
  positions: readonly number[],
): Promise<OpenCommit[]> {
  return tx.many(
    OpenCommit,
    sql`
      select position, commit from range_commit
      where search_id = ${id} and position = any(${positions}::integer[])
      order by position
    `,
  );
}

const GraphOfCommit = z.object({ position: z.number(), graphId: GraphId });

/**
 * Graphs that are there already for commits of a search, the newest of each commit first.
 *
 * Only such as say of the commit what the search's own would: made of definitions that the repository has or
 * had, with nothing given or customised, and of all jobs, or of those that the search is about. Part of
 * the jobs, or other switches, would make a commit good that is not.
 */
export function graphsOfRange(
  tx: Tx,
  id: SearchId,
  positions?: readonly number[],
): Promise<z.infer<typeof GraphOfCommit>[]> {
  return tx.many(
    GraphOfCommit,
    sql`
      select range_commit.position, graph.id as "graphId"
      from range_search
      join range_commit on range_commit.search_id = range_search.id
      join graph on graph.repository = range_search.repository and graph.commit = range_commit.commit
      where range_search.id = ${id}
        and (${positions === undefined} or range_commit.position = any(${positions ?? []}::integer[]))
        and (graph.named is null or not exists (
          select from catalog_entry as entry join definition as named on named.digest = entry.definition
          where entry.catalog = graph.template_catalog and entry.name = 'graph/' || graph.named
            and named.body ?| array['select', 'switches', 'parameters']))
        and (graph.selection is null or graph.selection = range_search.selection)
        and graph.given = '{"parameters": {}, "switches": {}}'
        and exists (
          select from catalog_source as source
          where source.repository = graph.repository and source.catalog = graph.template_catalog)
        and not exists (select from job where job.graph_id = graph.id and job.patch is not null)
      order by range_commit.position, graph.number desc
    `,
  );
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
