import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { type Sql, sql } from "#db/sql.ts";
import { GraphId } from "../graph-id.ts";
import type { JobKey } from "../run.store.ts";
import { chainKey } from "./approximation-facts.store.ts";
import { firstRunsRequested, waitsForItsInputs } from "./waiting-for-inputs.store.ts";

interface Taken extends JobKey {
  readonly epoch: number;
}

const JobRow = z.object({ graphId: GraphId, job: z.string() });

/** Returns the jobs that still wait only for their inputs and still have these epochs, by `chainKey`. */
export async function stillWaiting(tx: Tx, jobs: readonly Taken[]): Promise<Set<string>> {
  const rows = await tx.many(
    JobRow,
    sql`
      select waiting.graph_id as "graphId", waiting.name as job
      from unnest(${jobs.map(({ graphId }) => graphId)}::uuid[], ${jobs.map(({ job }) => job)}::text[],
                  ${jobs.map(({ epoch }) => epoch)}::bigint[]) as t (graph_id, name, epoch)
      join job as waiting on waiting.graph_id = t.graph_id and waiting.name = t.name
        and waiting.preparing_epoch = t.epoch
      where ${waitsForItsInputs}
    `,
  );
  return new Set(rows.map(chainKey));
}

/**
 * Stores the outcome of lookups ahead. The jobs with a known result were ready at that moment. The graphs are locked.
 */
export async function closeApproximations(
  tx: Tx,
  hits: readonly JobKey[],
  missed: readonly JobKey[],
): Promise<void> {
  await tx.run(sql`
    update job
    set approximation = c.became, preparing_until = null,
        ready_at = case when c.became = 'hit' then now() else job.ready_at end
    from (
      select graph_id, name, 'hit' as became from ${keys(hits)} as h (graph_id, name)
      union all
      select graph_id, name, 'missed' from ${keys(missed)} as m (graph_id, name)
    ) as c
    where job.graph_id = c.graph_id and job.name = c.name
  `);
}

/**
 * Sets aside the finders of these jobs that have not started, if no job needs them any more.
 *
 * A finder that another job needs, or that a person requested, runs. The graphs are locked.
 */
export function setFindersAside(
  tx: Tx,
  jobs: readonly JobKey[],
): Promise<z.infer<typeof JobRow>[]> {
  return tx.many(
    JobRow,
    sql`
      update job
      set set_aside = 'unneeded', wanted = null, expires_at = null, runs_asked = 0, runs_left = 0,
          reason = format('not needed: the result of %s was known without it', needing.names)
      from (
        select finder.graph_id, finder.name, string_agg(distinct waiting.name, ', ') as names
        from ${keys(jobs)} as k (graph_id, name)
        join job as known on known.graph_id = k.graph_id and known.name = k.name
        join job as finder on finder.graph_id = known.graph_id and finder.name = known.finder
        join edge on edge.graph_id = finder.graph_id and edge.on_job = finder.name
        join job as waiting on waiting.graph_id = edge.graph_id and waiting.name = edge.job
        where finder.state = 'ready' and finder.runs = 0 and finder.wanted in ${firstRunsRequested}
        group by finder.graph_id, finder.name
        having bool_and(waiting.finder = finder.name and waiting.approximation is not distinct from 'hit')
      ) as needing
      where job.graph_id = needing.graph_id and job.name = needing.name
      returning job.graph_id as "graphId", job.name as job
    `,
  );
}

function keys(jobs: readonly JobKey[]): Sql {
  return sql`unnest(${jobs.map(({ graphId }) => graphId)}::uuid[], ${jobs.map(({ job }) => job)}::text[])`;
}
