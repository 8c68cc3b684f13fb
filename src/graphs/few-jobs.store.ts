import { type Sql, sql } from "#db/sql.ts";
import type { JobKey } from "./run.store.ts";

/** Beyond it a statement about many jobs had better go through the table. */
const mostNamed = 200;

/**
 * Names the jobs that a statement is about once more, where they are few: as a condition to be added, on the
 * columns of the table that is joined.
 *
 * The planner takes each `json_to_recordset` for a hundred rows, however few it has, and of tables with thousands of jobs
 * then reads all, to join them: jobs that are blocked would slow down each step of any other.
 */
export function namedWhereFew(
  jobs: readonly JobKey[],
  graph: Sql = sql`job.graph_id`,
  name: Sql = sql`job.name`,
): Sql {
  if (jobs.length > mostNamed) return sql`true`;
  const graphs = [...new Set(jobs.map(({ graphId }) => graphId))];
  return sql`(${graph} = any(${graphs}::uuid[]) and ${name} = any(${jobs.map(({ job }) => job)}::text[]))`;
}
