import { z } from "zod";
import { SpanPlace } from "#core/span-place.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { GraphId } from "./graph-id.ts";

/** Stores the place of a new graph in a trace, in the transaction that stores the graph. */
export async function insertGraphSpan(
  tx: Tx,
  graphId: GraphId,
  { traceId, spanId, parentId }: SpanPlace,
  startedAt: Date,
): Promise<void> {
  await tx.run(sql`
    insert into graph_span (graph_id, trace_id, span_id, parent_id, started_at)
    values (${graphId}, ${traceId}, ${spanId}, ${parentId}, ${startedAt})
  `);
}

const SpannedJob = z.object({
  name: z.string(),
  kind: z.string(),
  state: z.string(),
  runs: z.number(),
  /** Whether its last run took its result from the action cache. */
  cached: z.boolean(),
  /** When its first run was ready, when it was queued, and when its last run ended. */
  readyAt: z.coerce.date().nullable(),
  queuedAt: z.coerce.date().nullable(),
  finishedAt: z.coerce.date().nullable(),
});

/** A graph that has ended, with the jobs whose spans have not been sent. */
const EndedGraph = z.object({
  id: GraphId,
  place: SpanPlace,
  project: z.string(),
  commit: z.string(),
  state: z.string(),
  startedAt: z.coerce.date(),
  finishedAt: z.coerce.date(),
  /** The end of the graph up to which spans were sent: it ran again. Null when none was sent. */
  sentUntil: z.coerce.date().nullable(),
  jobs: z.array(SpannedJob),
});
export type EndedGraph = z.infer<typeof EndedGraph>;

/**
 * Takes ended graphs whose spans have not been sent, and notes that they are: one server sends them. Call it again
 * until it returns fewer than `most`.
 *
 * A graph that runs again and ends again is returned again, with the jobs that ran meanwhile.
 */
export function takeEndedGraphSpans(tx: Tx, most: number): Promise<EndedGraph[]> {
  return tx.many(
    EndedGraph,
    sql`
      with taken as (
        select graph_span.graph_id, graph_span.sent_until
        from graph_span join graph on graph.id = graph_span.graph_id
        where graph.state <> 'running'
          and (graph_span.sent_until is null or graph_span.sent_until < graph.finished_at)
        order by graph_span.graph_id
        limit ${most}
        for update of graph_span skip locked
      ),
      sent as (
        update graph_span set sent_until = graph.finished_at
        from taken, graph
        where graph_span.graph_id = taken.graph_id and graph.id = taken.graph_id
        returning graph_span.graph_id, graph_span.trace_id, graph_span.span_id,
                  graph_span.parent_id, graph_span.started_at, taken.sent_until
      )
      select graph.id, graph.project, graph.commit, graph.state,
        json_build_object('traceId', sent.trace_id, 'spanId', sent.span_id, 'parentId', sent.parent_id) as place,
        sent.started_at as "startedAt", graph.finished_at as "finishedAt", sent.sent_until as "sentUntil",
        coalesce((
          select json_agg(json_build_object(
            'name', job.name, 'kind', job.kind, 'state', job.state, 'runs', job.runs,
            'readyAt', done.ready_at, 'queuedAt', done.queued_at, 'finishedAt', done.finished_at,
            'cached', done.cached
          ) order by job.name)
          from job
          join lateral (
            select min(run.ready_at) as ready_at, min(run.queued_at) as queued_at, max(run.finished_at) as finished_at,
              coalesce(bool_or(run.cached) filter (where run.number = job.runs), false) as cached
            from run
            where run.graph_id = job.graph_id and run.job = job.name
              and (sent.sent_until is null or run.finished_at > sent.sent_until)
          ) as done on done.queued_at is not null
          where job.graph_id = graph.id
        ), '[]') as jobs
      from sent join graph on graph.id = sent.graph_id
    `,
  );
}
