import { type Sql, sql } from "#db/sql.ts";
import type { JobKey } from "./run.store.ts";

/** Above this number, a statement about many jobs should scan the table. */
const mostNamed = 200;

/**
 * Returns an additional condition that names a statement's jobs, if they are few, on the columns of the joined table.
 *
 * The planner assumes a hundred rows for each `json_to_recordset`, and then reads all of a table with thousands of jobs
 * to join them: blocked jobs would slow down each step of others.
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
