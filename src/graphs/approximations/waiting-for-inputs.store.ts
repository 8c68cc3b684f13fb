import { sql } from "#db/sql.ts";

/** Causes of runs that need not be executed for their own sake: a known result serves them. */
export const firstRunsRequested = sql`('first', 'backfill', 'bisect')`;

/**
 * Whether a job, as `waiting`, waits only for its inputs to be found, and no lookup ahead was made for it yet.
 *
 * The finder waits for nothing either, so the inputs of both are known. This is the only place with this condition, so
 * that a finder is held back exactly as long as a lookup is still possible.
 */
export const waitsForItsInputs = sql`
  waiting.approximation = 'open' and waiting.state = 'blocked' and waiting.open_edges = 1
  and waiting.failed_edges = 0 and waiting.runs = 0 and waiting.wanted in ${firstRunsRequested}
  and exists (
    select from edge
    join job as finder on finder.graph_id = edge.graph_id and finder.name = edge.on_job
    where edge.graph_id = waiting.graph_id and edge.job = waiting.name and edge.on_job = waiting.finder
      and edge.status = 'open'
      and (finder.state = 'ready' and finder.runs = 0 and finder.wanted in ${firstRunsRequested}
        or finder.state in ('queued', 'running') and finder.runs = 1)
  )
`;
