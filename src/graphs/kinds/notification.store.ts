import { z } from "zod";
import type { Notification as ShownToPeople } from "#api/server-job.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { GraphId } from "../graph-id.ts";
import type { ReadyServerJob } from "./server-job.store.ts";
import type { Webhooks } from "./webhooks.ts";

/** How long delivery of a notification is retried before it fails. */
const retryHours = 24;
/** The limit for awaited jobs that a notification lists, so that it stays below 64 KiB. */
const mostNeeds = 200;

/** Stores the notifications of notify jobs that begin, with the outcomes of the jobs before them. */
export async function keepNotifications(
  tx: Tx,
  begun: readonly ReadyServerJob[],
  webhooks: Webhooks,
  now: Date,
): Promise<void> {
  const rows = begun
    .filter(({ kind }) => kind === "notify")
    .flatMap(({ graphId, job, runs, definition }) =>
      (definition.to ?? []).map((url) => ({
        graph_id: graphId,
        job,
        run: runs + 1,
        url,
        message: definition.message ?? "",
        allowed: webhooks.allows(url),
      })),
    );
  if (rows.length === 0) return;
  await tx.run(sql`
    insert into notification (id, graph_id, job, run, url, state, next_at, give_up_at, problem, body)
    select n.id, n.graph_id, n.job, n.run, n.url,
           case when n.allowed then 'pending' else 'kept' end,
           case when n.allowed then ${now}::timestamptz end,
           ${now}::timestamptz + make_interval(hours => ${retryHours}),
           case when not n.allowed then 'the configuration of the server (GRANGE_WEBHOOKS) does not allow this URL' end,
           jsonb_build_object(
             'id', n.id, 'graph', n.graph_id, 'job', n.job, 'run', n.run, 'message', n.message,
             'repository', graph.repository, 'commit', graph.commit, 'branch', graph.branch,
             'needs', coalesce((
               select jsonb_object_agg(name, jsonb_build_object('state', state, 'outcome', outcome))
               from (
                 select source.name, source.state, run.outcome
                 from edge
                 join job as source on source.graph_id = edge.graph_id and source.name = edge.on_job
                 left join run on run.graph_id = source.graph_id and run.job = source.name and run.number = source.runs
                 where edge.graph_id = n.graph_id and edge.job = n.job
                 order by source.name
                 limit ${mostNeeds}
               ) as needed
             ), '{}'))
    from (
      select gen_random_uuid() as id, r.*
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as r (graph_id uuid, job text, run integer, url text, message text, allowed boolean)
    ) as n
    join graph on graph.id = n.graph_id
  `);
  await markToldRuns(
    tx,
    rows.map((row) => ({ graphId: row.graph_id, job: row.job, run: row.run })),
    now,
  );
  await tx.run(sql`select pg_notify('grange_errand', '')`);
}

interface RunKey {
  readonly graphId: GraphId;
  readonly job: string;
  readonly run: number;
}

/** Marks runs without undelivered notifications as ready to end. */
async function markToldRuns(tx: Tx, runs: readonly RunKey[], now: Date): Promise<void> {
  await tx.run(sql`
    update run set due_at = ${now}
    from unnest(${runs.map(({ graphId }) => graphId)}::uuid[], ${runs.map(({ job }) => job)}::text[],
                ${runs.map(({ run }) => run)}::integer[]) as r (graph_id, job, number)
    where run.graph_id = r.graph_id and run.job = r.job and run.number = r.number
      and run.state = 'running' and run.due_at is null
      and not exists (
        select from notification
        where notification.graph_id = run.graph_id and notification.job = run.job
          and notification.run = run.number and notification.state = 'pending')
  `);
}

const Notification = z.object({
  id: z.uuid(),
  graphId: GraphId,
  job: z.string(),
  run: z.number(),
  url: z.string(),
  body: z.record(z.string(), z.unknown()),
  /** Including this attempt. */
  attempts: z.number(),
  giveUpAt: z.date(),
});
/** A notification to send, possibly again. */
export type Notification = z.infer<typeof Notification>;

/**
 * Takes due notifications.
 *
 * Until `until` no other server takes them; if this server dies, another one sends them after that. A receiver may
 * therefore get one twice, and can recognise it by its id.
 */
export function takeNotifications(
  tx: Tx,
  now: Date,
  until: Date,
  most: number,
): Promise<Notification[]> {
  return tx.many(
    Notification,
    sql`
      with due as (
        select id from notification
        where state = 'pending' and next_at <= ${now}
        order by next_at
        limit ${most}
        for update skip locked
      )
      update notification set next_at = ${until}, attempts = attempts + 1
      from due where notification.id = due.id
      returning notification.id, graph_id as "graphId", job, run, url, body, attempts, give_up_at as "giveUpAt"
    `,
  );
}

/** The outcome of an attempt. */
export type Told =
  | { readonly kind: "delivered" }
  | { readonly kind: "again"; readonly at: Date; readonly problem: string }
  | { readonly kind: "failed"; readonly problem: string };

/** Stores the results of deliveries. */
export async function keepTold(
  tx: Tx,
  attempts: readonly { readonly notification: Notification; readonly told: Told }[],
  now: Date,
): Promise<void> {
  const rows = attempts.map(({ notification, told: one }) => ({
    id: notification.id,
    state: one.kind === "again" ? "pending" : one.kind,
    next_at: one.kind === "again" ? one.at : null,
    problem: one.kind === "delivered" ? null : one.problem,
  }));
  await tx.run(sql`
    update notification
    set state = t.state, next_at = t.next_at, problem = t.problem,
        delivered_at = case when t.state = 'delivered' then ${now}::timestamptz end
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as t (id uuid, state text, next_at timestamptz, problem text)
    where notification.id = t.id and notification.state = 'pending'
  `);
  await markToldRuns(
    tx,
    attempts.map(({ notification }) => notification),
    now,
  );
}

const Next = z.object({ at: z.date().nullable() });

/** Returns the time of the next delivery attempt. */
export async function nextNotification(tx: Tx): Promise<Date | undefined> {
  const [row] = await tx.many(
    Next,
    sql`select min(next_at) as at from notification where state = 'pending'`,
  );
  return row?.at ?? undefined;
}

/** Drops the unsent notifications of cancelled runs. */
export function dropNotificationsOfEndedRuns(tx: Tx): Promise<number> {
  return tx.run(sql`
    update notification set state = 'failed', next_at = null, problem = 'its run was cancelled'
    from run
    where notification.state = 'pending' and run.graph_id = notification.graph_id
      and run.job = notification.job and run.number = notification.run and run.state = 'finished'
  `);
}

const ShownNotification = z.object({
  id: z.string(),
  run: z.number(),
  url: z.string(),
  state: z.enum(["pending", "delivered", "kept", "failed"]),
  attempts: z.number(),
  problem: z.string().nullable(),
  deliveredAt: z
    .date()
    .transform((date) => date.toISOString())
    .nullable(),
});

/** Returns what a notify job has sent, and what failed, the latest run first. */
export function notificationsOf(tx: Tx, graphId: GraphId, job: string): Promise<ShownToPeople[]> {
  return tx.many(
    ShownNotification,
    sql`
      select id, run, url, state, attempts, problem, delivered_at as "deliveredAt"
      from notification
      where graph_id = ${graphId} and job = ${job}
      order by run desc, url
      limit 200
    `,
  );
}
