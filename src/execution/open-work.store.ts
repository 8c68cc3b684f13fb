import { sql } from "#db/sql.ts";

/** A condition: an execution waits or runs, or a second run must be managed. */
export const hasOpenExecutions = sql`
  exists (select from execution where state = 'queued')
    or exists (select from execution where state = 'leased')
    or exists (select from execution where hedge_is_open)
`;
