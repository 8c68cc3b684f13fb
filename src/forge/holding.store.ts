import { z } from "zod";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/** The right to work on a repository, for a while. */
export interface Holding {
  readonly repository: string;
  readonly epoch: number;
}

const Held = z.object({ repository: z.string(), epoch: z.number() });

/**
 * Takes a repository with pending work that no server holds: the one that has waited longest.
 *
 * A repository whose holder crashed has waited since then, so that one that crashes servers repeatedly does not keep
 * others from their turn.
 */
export async function takeRepository(
  tx: Tx,
  { holder, now, until }: { readonly holder: string; readonly now: Date; readonly until: Date },
): Promise<Holding | undefined> {
  const [taken] = await tx.many(
    Held,
    sql`
      update forge_repository as r
      set held_by = ${holder}, held_until = ${until}, epoch = r.epoch + 1
      from (
        select due.name
        from forge_repository as due
        left join lateral (
          select min(next_at) as next_at from forge_delivery
          where kind = due.kind and slug = due.slug and state = 'waiting'
        ) as told on true
        where (due.held_until is null or due.held_until <= ${now})
          and least(due.next_at, told.next_at) <= ${now}
        -- Of null and a time, the greatest is the time.
        order by greatest(least(due.next_at, told.next_at), due.held_until), due.name
        limit 1
        for update of due skip locked
      ) as next
      where r.name = next.name
      returning r.name as repository, r.epoch
    `,
  );
  return taken;
}

/** Returns false when another server has taken it meanwhile. */
export async function keepHolding(tx: Tx, held: Holding, until: Date): Promise<boolean> {
  const kept = await tx.run(sql`
    update forge_repository set held_until = ${until}
    where name = ${held.repository} and epoch = ${held.epoch} and held_until is not null
  `);
  return kept > 0;
}

/** Call it first in each transaction that writes read data: older data must not overwrite newer data. */
export async function requireHolding(tx: Tx, { repository, epoch }: Holding): Promise<void> {
  const [mine] = await tx.many(
    z.object({ name: z.string() }),
    sql`select name from forge_repository where name = ${repository} and epoch = ${epoch} for share`,
  );
  if (mine === undefined) {
    throw new Fault(
      "aborted",
      `another server works on ${repository} now, or it is no longer watched`,
    );
  }
}

/** Releases it until `nextAt`; `error` describes the failure, if any. */
export async function releaseHeldRepository(
  tx: Tx,
  { repository, epoch }: Holding,
  {
    reconciledAt,
    nextAt,
    error,
  }: {
    readonly reconciledAt: Date | undefined;
    readonly nextAt: Date | undefined;
    readonly error: string | undefined;
  },
): Promise<void> {
  await tx.run(sql`
    update forge_repository
    set held_by = null, held_until = null,
        reconciled_at = coalesce(${reconciledAt ?? null}::timestamptz, reconciled_at),
        next_at = coalesce(${nextAt ?? null}::timestamptz, next_at),
        error = ${error ?? null},
        failures = case when ${error === undefined}::boolean then 0 else failures + 1 end
    where name = ${repository} and epoch = ${epoch}
  `);
}
