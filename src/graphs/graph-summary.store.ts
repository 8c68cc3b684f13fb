import { z } from "zod";
import type { GraphSummary, Repository } from "#api/graph.ts";
import { GraphState, JobState } from "#api/job-state.ts";
import type { PlacePatterns } from "#core/place-patterns.ts";
import type { Tx } from "#db/db.ts";
import { hasSomePlace, inPlaces } from "#db/in-places.ts";
import { type Sql, sql } from "#db/sql.ts";
import type { GraphId } from "./graph-id.ts";
import { repositoryName } from "./repository-name.ts";

const isoTime = z.date().transform((date) => date.toISOString());

const SummaryRow = z
  .object({
    id: z.string(),
    repository: z.string(),
    project: z.string(),
    commit: z.string(),
    rev: z.string(),
    subject: z.string(),
    author: z.string(),
    committedAt: isoTime,
    catalog: z.string(),
    templates: z.string().nullable(),
    set: z.string(),
    setName: z.string().nullable(),
    parentId: z.string().nullable(),
    parentKind: z.enum(["clone", "backfill", "bisect", "subgraph"]).nullable(),
    parentJob: z.string().nullable(),
    branch: z.string(),
    priority: z.number(),
    top: z.boolean(),
    submittedBy: z.string(),
    state: GraphState,
    version: z.number(),
    customised: z.number(),
    counts: z.partialRecord(JobState, z.number()),
    createdAt: isoTime,
    finishedAt: isoTime.nullable(),
    idleMs: z.number(),
  })
  .transform(
    ({ parentId, parentKind, parentJob, ...row }): GraphSummary => ({
      ...row,
      parent:
        parentId === null || parentKind === null
          ? null
          : { id: parentId, kind: parentKind, job: parentJob },
      jobs: Object.values(row.counts).reduce((sum, number) => sum + number, 0),
    }),
  );

const columns = sql`
  graph.id, graph.repository, graph.project, graph.commit, graph.rev, graph.subject, graph.author,
  graph.committed_at as "committedAt", graph.catalog,
  graph.template_catalog as templates, graph.set_id as set,
  (select name from named_set where named_set.id = graph.set_id) as "setName", graph.parent_id as "parentId",
  graph.parent_kind as "parentKind", graph.parent_job as "parentJob", graph.branch, graph.priority,
  graph.top, graph.submitted_by as "submittedBy", graph.state, graph.version, graph.counts,
  (select count(*) from job where job.graph_id = graph.id and job.patch is not null) as customised,
  graph.created_at as "createdAt", graph.finished_at as "finishedAt",
  graph.idle_ms as "idleMs"
`;

export async function graphSummary(tx: Tx, id: GraphId): Promise<GraphSummary | undefined> {
  const [row] = await tx.many(SummaryRow, sql`select ${columns} from graph where id = ${id}`);
  return row;
}

/** The versions of graphs; those that are gone are missing. */
export async function graphVersions(
  tx: Tx,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await tx.many(
    z.object({ id: z.string(), version: z.number() }),
    sql`select id, version from graph where id = any(${ids}::uuid[])`,
  );
  return new Map(rows.map(({ id, version }) => [id, version]));
}

/** Returns graphs that match a condition, which may include an order. */
export function graphSummaries(tx: Tx, which: Sql): Promise<GraphSummary[]> {
  return tx.many(SummaryRow, sql`select ${columns} from graph where ${which}`);
}

interface GraphListing {
  /** In one repository; in all when absent. */
  readonly repository?: string | undefined;
  /** With this commit. The repository may then also be written as its address. */
  readonly commit?: string | undefined;
  readonly limit: number;
  /** Only graphs older than this one. */
  readonly before?: GraphId | undefined;
  /** Only graphs at these places. */
  readonly places: PlacePatterns;
}

/** Graphs, the newest first. */
export function listGraphs(
  tx: Tx,
  { repository, commit, limit, before, places }: GraphListing,
): Promise<GraphSummary[]> {
  const conditions: Sql[] = [inPlaces(places, sql`repository`, sql`branch`)];
  if (commit !== undefined) conditions.push(sql`commit = ${commit}`);
  if (repository !== undefined && commit === undefined) {
    conditions.push(sql`repository = ${repository}`);
  } else if (repository !== undefined) {
    conditions.push(sql`repository = any(${[repository, repositoryName(repository)]})`);
  }
  if (before !== undefined)
    conditions.push(sql`number < (select number from graph where id = ${before})`);
  const where = conditions.reduce((all, one) => sql`${all} and ${one}`);
  return tx.many(
    SummaryRow,
    sql`select ${columns} from graph where ${where} order by number desc limit ${limit}`,
  );
}

const RepositoryRow = z.object({
  name: z.string(),
  url: z.string(),
  project: z.string(),
  graphs: z.number(),
});

/**
 * Repositories with a branch among the places, the one with the newest graph first. Only graphs at the places count.
 */
export async function listRepositories(tx: Tx, places: PlacePatterns): Promise<Repository[]> {
  const repositories = await tx.many(
    RepositoryRow,
    sql`
      select repository.name, repository.url, repository.project, count(graph.id) as graphs
      from repository
      left join graph on graph.repository = repository.name
        and ${inPlaces(places, sql`graph.repository`, sql`graph.branch`)}
      where ${hasSomePlace(places, sql`repository.name`)}
      group by repository.name
      order by max(graph.number) desc nulls last, repository.name
    `,
  );
  const latest = await tx.many(
    SummaryRow,
    sql`
      select ${columns}
      from repository
      cross join lateral (
        select * from graph
        where graph.repository = repository.name
          and ${inPlaces(places, sql`graph.repository`, sql`graph.branch`)}
        order by number desc limit 1
      ) as graph
    `,
  );
  const byRepository = new Map(latest.map((graph) => [graph.repository, graph]));
  return repositories.map((repository) => ({
    ...repository,
    latest: byRepository.get(repository.name) ?? null,
  }));
}
