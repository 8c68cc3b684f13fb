import { z } from "zod";
import { Platform, spelledAlike } from "#core/platform.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { takesNothingNew } from "../claiming/drain.store.ts";
import { ExecutionId } from "../execution.ts";
import type { WorkerProcess } from "./lease.ts";

/** The facts that a worker states when it registers. */
export interface WorkerDescription extends WorkerProcess {
  readonly platform: Platform;
  readonly sizeClass: number;
  readonly slots: number;
  readonly version: string;
  /** The sandbox and limits of the machine, for people. */
  readonly facilities: Readonly<Record<string, string>>;
  /** The CPUs that one slot gives an action; null: all CPUs of the machine. */
  readonly cpus: number | null;
  readonly memoryBytes: number | null;
  readonly transport: Transport;
  /** The machine's own name; empty when the worker does not report it. */
  readonly host: string;
  /** How long its leases last without a heartbeat; null for the farm's default. */
  readonly leaseMs: number | null;
  /** The container images on its disk, by `imageKeyOf`. */
  readonly images: readonly string[];
  /** The principal that registered it: no other may act for the worker. `anyone` when absent. */
  readonly principal?: string;
  /** Whether it may take over the name of another principal's worker, because it may administer the farm. */
  readonly mayTakeAnyName?: boolean;
}

/** How a worker was started: by the owner of its machine, or over ssh. */
export const Transport = z.enum(["pull", "ssh"]);
export type Transport = z.infer<typeof Transport>;

const Holder = z.object({
  name: z.string(),
  instanceId: z.string(),
  lastSeenAt: z.date(),
  principal: z.string(),
});
/** The process that holds a worker's name, and the time of its last contact. */
export type Holder = z.infer<typeof Holder>;

/** Locks names until the transaction ends, in their order. Returns the processes that hold them. */
export function lockHoldersOf(tx: Tx, names: readonly string[]): Promise<Holder[]> {
  return tx.many(
    Holder,
    sql`
      select name, instance_id as "instanceId", last_seen_at as "lastSeenAt", principal
      from worker where name = any(${names}::text[]) order by name for no key update
    `,
  );
}

/** Registers workers with different names; each replaces one of the same name. */
export async function registerWorkers(
  tx: Tx,
  workers: readonly WorkerDescription[],
  now: Date,
): Promise<void> {
  if (workers.length === 0) return;
  const platforms = workers.map(({ platform }) => JSON.stringify(spelledAlike(platform)));
  await tx.run(sql`
    insert into worker (
      name, instance_id, platform, size_class, slots, cpus, memory_bytes, facilities, version,
      transport, host, lease_ms, images, principal, registered_at, last_seen_at)
    select name, instance_id, platform::jsonb, size_class, slots, cpus, memory_bytes, facilities::jsonb, version,
      transport, host, lease_ms, images::jsonb, principal, ${now}::timestamptz, ${now}::timestamptz
    from unnest(
      ${workers.map(({ name }) => name)}::text[],
      ${workers.map(({ instanceId }) => instanceId)}::text[],
      ${platforms}::text[],
      ${workers.map(({ sizeClass }) => sizeClass)}::integer[],
      ${workers.map(({ slots }) => slots)}::integer[],
      ${workers.map(({ cpus }) => cpus)}::double precision[],
      ${workers.map(({ memoryBytes }) => memoryBytes)}::bigint[],
      ${workers.map(({ facilities }) => JSON.stringify(facilities))}::text[],
      ${workers.map(({ version }) => version)}::text[],
      ${workers.map(({ transport }) => transport)}::text[],
      ${workers.map(({ host }) => host)}::text[],
      ${workers.map(({ leaseMs }) => leaseMs)}::bigint[],
      ${workers.map(({ images }) => JSON.stringify(images))}::text[],
      ${workers.map(({ principal }) => principal ?? "anyone")}::text[]
    ) as registered (
      name, instance_id, platform, size_class, slots, cpus, memory_bytes, facilities, version,
      transport, host, lease_ms, images, principal)
    -- One order for all who lock several, so that nobody waits in a circle.
    order by name
    on conflict (name) do update
    set instance_id = excluded.instance_id, platform = excluded.platform,
        size_class = excluded.size_class, slots = excluded.slots, cpus = excluded.cpus,
        memory_bytes = excluded.memory_bytes, facilities = excluded.facilities,
        version = excluded.version, transport = excluded.transport, host = excluded.host,
        lease_ms = excluded.lease_ms, images = excluded.images, principal = excluded.principal, registered_at = excluded.registered_at,
        last_seen_at = excluded.last_seen_at, draining = false, trouble = null, ending_count = 0
  `);
}

const RegisteredWorker = z.object({
  name: z.string(),
  instanceId: z.string(),
  platform: Platform,
  sizeClass: z.number(),
  draining: z.boolean(),
  leaseMs: z.number().nullable(),
  /** The container images on its disk, by `imageKeyOf`. */
  images: z.array(z.string()).readonly(),
});
export type RegisteredWorker = z.infer<typeof RegisteredWorker>;

/** Returns those of the processes that hold their name. */
export function knownWorkers(
  tx: Tx,
  workers: readonly WorkerProcess[],
): Promise<RegisteredWorker[]> {
  return tx.many(
    RegisteredWorker,
    sql`
      select name, instance_id as "instanceId", platform, size_class as "sizeClass",
        ${takesNothingNew} as draining, lease_ms as "leaseMs", images
      from worker
      where name = any(${workers.map(({ name }) => name)}::text[])
        and instance_id = any(${workers.map(({ instanceId }) => instanceId)}::text[])
    `,
  );
}

interface SeenWorker {
  readonly instanceId: string;
  /** How long its leases last, in ms; null for the farm's default. */
  readonly leaseMs: number | null;
  /** The count after its last heartbeat. */
  readonly endingCount: number;
}

/** Records that processes are alive. Returns those that hold their name, by their instance ids. */
export async function recordWorkersSeen(
  tx: Tx,
  beats: readonly {
    readonly worker: WorkerProcess;
    readonly draining: boolean;
    readonly trouble?: string | undefined;
    readonly images?: readonly string[] | undefined;
  }[],
  now: Date,
): Promise<ReadonlyMap<string, SeenWorker>> {
  const rows = await tx.many(
    z.object({
      instanceId: z.string(),
      leaseMs: z.number().nullable(),
      endingCount: z.number(),
    }),
    sql`
      with beat as (
        select distinct on (name) name, instance_id, draining, trouble, images
        from unnest(
          ${beats.map(({ worker }) => worker.name)}::text[],
          ${beats.map(({ worker }) => worker.instanceId)}::text[],
          ${beats.map(({ draining }) => draining)}::boolean[],
          ${beats.map(({ trouble }) => trouble ?? null)}::text[],
          ${beats.map(({ images }) => (images === undefined ? null : JSON.stringify(images)))}::text[]
        ) as named (name, instance_id, draining, trouble, images)
        where exists (
          select from worker
          where worker.name = named.name and worker.instance_id = named.instance_id)
      ),
      held as (
        select worker.name from worker join beat using (name) order by name for no key update of worker
      )
      update worker
      set last_seen_at = greatest(last_seen_at, ${now}), draining = beat.draining, trouble = beat.trouble,
          images = coalesce(beat.images::jsonb, worker.images)
      from beat
      where worker.name = any(array(select name from held))
        and worker.name = beat.name and worker.instance_id = beat.instance_id
      returning worker.instance_id as "instanceId", worker.lease_ms as "leaseMs",
        worker.ending_count as "endingCount"
    `,
  );
  return new Map(rows.map((row) => [row.instanceId, row]));
}

/** Records how many executions that they no longer hold workers still name. Their rows are locked by `recordWorkersSeen`. */
export async function noteEnding(
  tx: Tx,
  workers: readonly { readonly instanceId: string; readonly endingCount: number }[],
): Promise<void> {
  if (workers.length === 0) return;
  await tx.run(sql`
    update worker set ending_count = noted.count
    from unnest(
      ${workers.map(({ instanceId }) => instanceId)}::text[],
      ${workers.map(({ endingCount }) => endingCount)}::integer[]
    ) as noted (instance_id, count)
    where worker.instance_id = noted.instance_id
  `);
}

/** Counts what workers finished. */
export async function countFinished(
  tx: Tx,
  finishedBy: ReadonlyMap<string, number>,
): Promise<void> {
  const names = [...finishedBy.keys()].toSorted();
  await tx.run(sql`
    with held as (
      select name from worker where name = any(${names}::text[]) order by name for no key update
    )
    update worker
    set finished_count = finished_count + more.count
    from unnest(
      ${names}::text[], ${names.map((name) => finishedBy.get(name) ?? 0)}::bigint[]
    ) as more (name, count)
    where worker.name = any(array(select name from held)) and worker.name = more.name
  `);
}

const ListedWorker = z.object({
  name: z.string(),
  platform: Platform,
  sizeClass: z.number(),
  slots: z.number(),
  cpus: z.number().nullable(),
  memoryBytes: z.number().nullable(),
  facilities: z.record(z.string(), z.string()),
  version: z.string(),
  transport: Transport,
  host: z.string(),
  principal: z.string(),
  leaseMs: z.number().nullable(),
  registeredAt: z.date(),
  lastSeenAt: z.date(),
  draining: z.boolean(),
  /** Why it can run nothing at present; null while it can. */
  trouble: z.string().nullable(),
  finishedCount: z.number(),
  /** Executions that it no longer holds but has not ended yet: they still occupy slots. */
  endingCount: z.number(),
  /** Executions that were assigned to it and have not ended, started or not. */
  heldCount: z.number(),
  /** The executions that it runs, oldest first, without those that have not started. */
  running: z.array(z.object({ executionId: ExecutionId, since: z.coerce.date() })),
});
export type ListedWorker = z.infer<typeof ListedWorker>;

/** Returns all workers by name, with the executions that they run. */
export function listWorkers(tx: Tx): Promise<ListedWorker[]> {
  return tx.many(
    ListedWorker,
    sql`
      select name, platform, size_class as "sizeClass", slots, cpus, memory_bytes as "memoryBytes",
        facilities, version, transport, host, principal,
        lease_ms as "leaseMs", registered_at as "registeredAt", last_seen_at as "lastSeenAt",
        ${takesNothingNew} as draining, trouble, finished_count as "finishedCount",
        ending_count as "endingCount",
        held.count as "heldCount", held.running
      from worker cross join lateral (
        select count(*),
          coalesce(
            json_agg(json_build_object('executionId', id, 'since', started_at) order by started_at)
              filter (where started_at is not null),
            '[]') as running
        from execution
        where state = 'leased' and execution.worker = worker.name
      ) as held
      order by name
    `,
  );
}

/** Deletes workers that were last seen before `seen` and hold nothing. */
export function forgetWorkers(tx: Tx, seen: Date): Promise<number> {
  return tx.run(sql`
    delete from worker as known
    where last_seen_at < ${seen}
      and not exists (
        select from execution where state = 'leased' and execution.worker = known.name)
  `);
}

/** Counts the workers that were seen since a time. */
export async function countWorkersSeen(tx: Tx, since: Date): Promise<number> {
  const [row] = await tx.many(
    z.object({ workers: z.number() }),
    sql`select count(*)::integer as workers from worker where last_seen_at > ${since}`,
  );
  return row?.workers ?? 0;
}
