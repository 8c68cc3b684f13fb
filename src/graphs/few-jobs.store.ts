import { type Sql, sql } from "#db/sql.ts";
import type { JobKey } from "./run.store.ts";

/** Above this number, a statement about many jobs should scan the table instead. */
const mostNamed = 200;

/**
 * Returns an additional condition on the columns of the joined table: it names a statement's jobs, if they are few.
 *
 * The planner assumes a hundred rows for each `json_to_recordset`, and then reads a whole table with thousands of jobs
 * to join them. Without this condition, blocked jobs would slow down each step of others.
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
