import { sql } from "#db/sql.ts";

/**
 * Why `job` stands where it does, for people; null where its state says it all.
 *
 * The stored reason is that of the last edge that failed. Where the job has a run, or had one that ended by
 * itself, that is only what would keep it from running again: after a waiver was taken back, say.
 */
export const reasonColumn = sql`
  case when job.set_aside is not null
         or job.state not in ('queued', 'waiting', 'running', 'succeeded', 'failed', 'cancelled')
       then job.reason end
`;
