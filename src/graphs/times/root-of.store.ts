import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { type Sql, sql } from "#db/sql.ts";
import type { GraphId } from "../graph-id.ts";

/**
 * The limit for edges that are followed: a graph of 10,000 jobs may have 100,000 edges, which would
 * take too long.
 */
const mostFollowed = 2_000;

/**
 * The order in which the root cause is chosen: a job that waits for a person comes before a job that only has to run.
 */
const furthestFirst = sql`array_position(array['waiting', 'ready', 'queued', 'running'], job.state)`;

/**
 * Returns, of all jobs before a blocked one along open edges, one that is not blocked itself.
 *
 * In a graph that is too large for that, it follows only the longest chain.
 */
export async function rootOf(tx: Tx, graphId: GraphId, name: string): Promise<string | undefined> {
  return (await amongNearest(tx, graphId, name)) ?? (await alongLongest(tx, graphId, name));
}

function amongNearest(tx: Tx, graphId: GraphId, name: string): Promise<string | undefined> {
  return oneName(
    tx,
    sql`
      with recursive before as (
        select ${name}::text as name
        union
        select edge.on_job from before
        join edge on edge.graph_id = ${graphId} and edge.job = before.name and edge.status = 'open'
      ),
      -- The recursion stops where nobody asks on.
      nearest as (select name from before limit ${mostFollowed})
      select job.name
      from nearest join job on job.graph_id = ${graphId} and job.name = nearest.name
      where job.state in ('waiting', 'ready', 'queued', 'running')
      order by ${furthestFirst}, job.name
      limit 1
    `,
  );
}

function alongLongest(tx: Tx, graphId: GraphId, name: string): Promise<string | undefined> {
  return oneName(
    tx,
    sql`
      with recursive chain as (
        select ${name}::text as name, 'blocked'::text as state
        union all
        select following.name, following.state
        from chain cross join lateral (
          select job.name, job.state
          from edge join job on job.graph_id = edge.graph_id and job.name = edge.on_job
          where edge.graph_id = ${graphId} and edge.job = chain.name and edge.status = 'open'
          order by job.depth desc, job.name
          limit 1
        ) as following
        where chain.state = 'blocked'
      )
      select name from chain where state in ('waiting', 'ready', 'queued', 'running') limit 1
    `,
  );
}

async function oneName(tx: Tx, statement: Sql): Promise<string | undefined> {
  const [row] = await tx.many(z.object({ name: z.string() }), statement);
  return row?.name;
}
