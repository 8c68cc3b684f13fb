import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/** A collector as it is registered. */
export const RegisteredCollector = z.object({
  name: z.string(),
  target: z.string(),
  /** Null: all sets. */
  set: z.number().nullable(),
  mayTakeOver: z.array(z.number()),
  active: z.boolean(),
  outOfDuty: z.string().nullable(),
  outOfDutyByTest: z.boolean(),
  lastHeartbeatAt: z.date().nullable(),
  toldSilentAt: z.date().nullable(),
  fingerprint: z.string().nullable(),
  incarnation: z.string().nullable(),
});
export type RegisteredCollector = z.infer<typeof RegisteredCollector>;

const columns = sql`
  name, target, benchmark_set as "set", may_take_over as "mayTakeOver", active, out_of_duty as "outOfDuty",
  out_of_duty_by_test as "outOfDutyByTest", last_heartbeat_at as "lastHeartbeatAt",
  told_silent_at as "toldSilentAt", fingerprint, incarnation
`;

export async function findCollector(
  tx: Tx,
  name: string,
): Promise<RegisteredCollector | undefined> {
  const [found] = await tx.many(
    RegisteredCollector,
    sql`select ${columns} from collector where name = ${name}`,
  );
  return found;
}

/** Returns the collectors of a target, including the named one. */
export function collectorsOfTarget(tx: Tx, target: string): Promise<RegisteredCollector[]> {
  return tx.many(
    RegisteredCollector,
    sql`select ${columns} from collector where target = ${target} order by name`,
  );
}

/**
 * Serialises changes of the register, until the transaction ends.
 *
 * The unique index would refuse the second of two, too, but without a message that explains what to do.
 */
export async function lockRegister(tx: Tx): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock(hashtext('grange collector register'))`);
}

export async function insertCollector(
  tx: Tx,
  collector: {
    readonly name: string;
    readonly target: string;
    readonly set: number | null;
    readonly mayTakeOver: readonly number[];
    readonly active: boolean;
  },
  by: string,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    insert into collector (name, target, benchmark_set, may_take_over, active, added_at, added_by)
    values (${collector.name}, ${collector.target}, ${collector.set}, ${collector.mayTakeOver},
            ${collector.active}, ${now}, ${by})
  `);
}

export async function updateCollector(
  tx: Tx,
  { name, set, mayTakeOver, active, outOfDuty, outOfDutyByTest }: RegisteredCollector,
): Promise<void> {
  await tx.run(sql`
    update collector
    set benchmark_set = ${set}, may_take_over = ${mayTakeOver}, active = ${active},
        out_of_duty = ${outOfDuty}, out_of_duty_by_test = ${outOfDutyByTest}
    where name = ${name}
  `);
}

/** Locks a collector's row: nothing is leased to it meanwhile. */
export async function lockCollector(
  tx: Tx,
  name: string,
): Promise<RegisteredCollector | undefined> {
  const [found] = await tx.many(
    RegisteredCollector,
    sql`select ${columns} from collector where name = ${name} for no key update`,
  );
  return found;
}

const Traces = z.object({ inHand: z.string().nullable(), jobs: z.boolean(), results: z.boolean() });

/** Returns what refers to a collector and would prevent its removal. */
export async function tracesOf(tx: Tx, name: string): Promise<z.infer<typeof Traces>> {
  const [traces] = await tx.many(
    Traces,
    sql`
      select
        (select id from benchmark_job where collector_name = ${name} and state = 'in-progress') as "inHand",
        exists (select from benchmark_job
                where collector_name = ${name} and state in ('success', 'failure', 'cancelled')) as jobs,
        exists (select from benchmark_result where collector_name = ${name})
          or exists (select from benchmark_collection where collector_name = ${name})
          or exists (select from benchmark_pair where collector_name = ${name}) as results
    `,
  );
  return Traces.parse(traces);
}

export async function deleteCollector(tx: Tx, name: string): Promise<void> {
  await tx.run(
    sql`update benchmark_job set collector_name = null where collector_name = ${name} and state = 'queued'`,
  );
  await tx.run(sql`delete from collector_self_test where collector_name = ${name}`);
  await tx.run(sql`delete from collector where name = ${name}`);
}

/** Stores the description of a machine; equal machines share one row. */
export async function keepEnvironment(
  tx: Tx,
  fingerprint: string,
  facts: Readonly<Record<string, string>>,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    insert into benchmark_environment (fingerprint, facts, first_seen_at)
    values (${fingerprint}, ${JSON.stringify(facts)}::jsonb, ${now})
    on conflict do nothing
  `);
}

/** Records the process that acts for a collector from now on. Returns the target for which it is registered. */
export async function registerProcess(
  tx: Tx,
  name: string,
  hello: {
    readonly incarnation: string;
    readonly version: string;
    readonly fingerprint: string;
  },
  now: Date,
): Promise<string | undefined> {
  const [updated] = await tx.many(
    z.object({ target: z.string() }),
    sql`
    update collector
    set incarnation = ${hello.incarnation}, version = ${hello.version}, fingerprint = ${hello.fingerprint},
        last_heartbeat_at = greatest(last_heartbeat_at, ${now}), told_silent_at = null
    where name = ${name}
    returning target
  `,
  );
  return updated?.target;
}

const Name = z.object({ name: z.string() });

/** Returns whether a collector went silent, or a silent one still has a job. One statement, for a loop. */
export async function isAnySilent(tx: Tx, now: Date, silentSince: Date): Promise<boolean> {
  const [found] = await tx.many(
    z.object({ any: z.boolean() }),
    sql`
      select exists (select from benchmark_job where state = 'in-progress' and lease_until <= ${now})
        or exists (
          select from collector
          where active and told_silent_at is null and last_heartbeat_at <= ${silentSince}) as any
    `,
  );
  return found?.any ?? false;
}

/** Marks collectors that went silent since the last report; returns them. */
export async function markSilent(tx: Tx, now: Date, silentSince: Date): Promise<string[]> {
  // Locked rows are skipped: a locked row means that the collector is reporting at this moment.
  const silent = await tx.many(
    Name,
    sql`
      update collector set told_silent_at = ${now}
      where name in (
        select name from collector
        where active and told_silent_at is null and last_heartbeat_at <= ${silentSince}
        for no key update skip locked)
      returning name
    `,
  );
  return silent.map(({ name }) => name);
}
