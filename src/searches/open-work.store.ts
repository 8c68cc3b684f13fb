import { sql } from "#db/sql.ts";

/** A SQL condition: a search over a range of commits is running. */
export const hasRunningSearch = sql`exists (select from range_search where state = 'running')`;
