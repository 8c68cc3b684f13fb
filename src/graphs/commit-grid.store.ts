import { z } from "zod";
import type { CommitGrid, GridCell, GridColumns, GridFilters } from "#api/commit-grid.ts";
import { JobState } from "#api/job-state.ts";
import { CommitSha } from "#core/commit-sha.ts";
import type { PlacePatterns } from "#core/place-patterns.ts";
import type { Tx } from "#db/db.ts";
import { inPlaces } from "#db/in-places.ts";
import { type Sql, sql } from "#db/sql.ts";
import { foldCells } from "./fold-cells.ts";
import { GraphId } from "./graph-id.ts";
import { graphSummaries } from "./graph-summary.store.ts";

/** With more jobs than this in a graph, the columns of its grid are kinds. */
const mostJobColumns = 40;
/** Jobs of further columns share one cell, so that a graph of 10,000 kinds has a short answer. */
const mostColumns = 60;

interface GridRequest extends GridFilters {
  readonly repository: string;
  readonly columns?: GridColumns | undefined;
  readonly limit: number;
  /** Only graphs older than this one. */
  readonly before?: GraphId | undefined;
  /** Only graphs at these places. */
  readonly places: PlacePatterns;
  /** Only these graphs. */
  readonly graphs?: readonly GraphId[];
}

/** Returns a page of a repository's grid of commits and jobs; call it in a transaction. */
export async function commitGrid(tx: Tx, request: GridRequest): Promise<CommitGrid> {
  const { limit } = request;
  // One more than the page tells whether there is a next page.
  const found = await graphSummaries(
    tx,
    sql`${conditionsOf(request)} order by number desc limit ${limit + 1}`,
  );
  const graphs = found.slice(0, limit);
  const columns =
    request.columns ?? (graphs.some(({ jobs }) => jobs > mostJobColumns) ? "kind" : "job");
  const cells = await cellsOf(
    tx,
    graphs.map(({ id }) => id),
    columns,
  );
  return {
    columns,
    rows: graphs.map((graph) => ({ graph, cells: cells.get(graph.id) ?? [] })),
    before: found.length > limit ? (graphs.at(-1)?.id ?? null) : null,
  };
}

const CommitOfGraph = z.object({ id: GraphId, commit: CommitSha });

/** Returns the graphs of a page of the grid with their commits, newest first. */
export function commitsOfGrid(
  tx: Tx,
  request: GridRequest,
): Promise<z.infer<typeof CommitOfGraph>[]> {
  return tx.many(
    CommitOfGraph,
    sql`
      select id, commit from graph
      where ${conditionsOf(request)} order by number desc limit ${request.limit}
    `,
  );
}

function conditionsOf(request: GridRequest): Sql {
  const { repository, author, branch, state, text, before, places, graphs } = request;
  const conditions = [
    inPlaces(places, sql`repository`, sql`branch`),
    sql`repository = ${repository}`,
  ];
  // strpos and starts_with, not `like`: the texts may contain `%` and `_`.
  if (author !== undefined) conditions.push(sql`strpos(lower(author), lower(${author})) > 0`);
  if (branch !== undefined) conditions.push(sql`branch = ${branch}`);
  if (state !== undefined) conditions.push(sql`state = ${state}`);
  if (text !== undefined) {
    conditions.push(sql`(strpos(lower(subject), lower(${text})) > 0
      or strpos(lower(rev), lower(${text})) > 0 or starts_with(commit, lower(${text})))`);
  }
  if (graphs !== undefined) conditions.push(sql`id = any(${graphs}::uuid[])`);
  if (before !== undefined) {
    conditions.push(sql`number < (select number from graph where id = ${before})`);
  }
  return conditions.reduce((all, one) => sql`${all} and ${one}`);
}

const PartRow = z.object({
  graph: z.string(),
  column: z.string().nullable(),
  state: JobState,
  jobs: z.number(),
  job: z.string(),
  failure: z.string().nullable(),
});

/** Returns the cells of each graph. The columns with most failures come first, then those of most jobs. */
async function cellsOf(
  tx: Tx,
  graphs: readonly string[],
  columns: GridColumns,
): Promise<ReadonlyMap<string, GridCell[]>> {
  // `unit/linux/3` and `unit-12` are of the kind `unit` if they have no tag that says otherwise.
  const column =
    columns === "job"
      ? sql`job.name`
      : sql`coalesce(nullif(job.tags->>'kind', ''), regexp_replace(split_part(job.name, '/', 1), '[-_.: ]?[0-9]+$', ''))`;
  const parts = await tx.many(
    PartRow,
    sql`
      with part as materialized (
        select job.graph_id, ${column} as name, job.state, count(*) as jobs, min(job.name) as job
        from job where job.graph_id = any(${graphs}::uuid[])
        group by 1, 2, 3
      ), place as materialized (
        select name,
               row_number() over (order by coalesce(sum(jobs) filter (where state = 'failed'), 0) desc,
                                           sum(jobs) desc, name) as number
        from part group by name
      ), shown as (
        select part.graph_id, case when place.number <= ${mostColumns} then part.name end as name,
               min(place.number) as number, part.state, sum(part.jobs) as jobs, min(part.job) as job
        from part join place using (name)
        group by 1, 2, part.state
      )
      select shown.graph_id as graph, shown.name as column, shown.state, shown.jobs::integer as jobs, shown.job,
             case when shown.state = 'failed'
                  then left(coalesce(run.error_lines->0->>'text', run.message), 200) end as failure
      from shown
      join job on job.graph_id = shown.graph_id and job.name = shown.job
      left join run on run.graph_id = job.graph_id and run.job = job.name and run.number = job.runs
      order by shown.number
    `,
  );
  return foldCells(parts);
}
