import { sql } from "#db/sql.ts";

/** Causes of runs that nobody wants executed for their own sake: what is known already serves them. */
export const firstRunsRequested = sql`('first', 'backfill', 'bisect')`;

/**
 * Whether a job, as `waiting`, waits for its inputs to be found and for nothing else, and nobody has looked yet
 * whether its result is known without.
 *
 * The finder has nothing to wait for either: what both were given is known. So that a finder is left alone
 * exactly as long as somebody can still look, this is the only place that says so.
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
