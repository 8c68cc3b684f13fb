import { sql } from "#db/sql.ts";

/**
 * The reason of `job`'s state, for people; null where the state needs none.
 *
 * The stored reason is that of the last edge that failed. When the job has a run, or a run that ended by itself, the
 * stored reason only says what would prevent another run, for example after a waiver was removed.
 */
export const reasonColumn = sql`
  case when job.set_aside is not null
         or job.state not in ('queued', 'waiting', 'running', 'succeeded', 'failed', 'cancelled')
       then job.reason end
`;
