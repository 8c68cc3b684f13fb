import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const leaseSeconds = 60;

/** The time after which a holder must renew its right, in ms; a third of the time for which it has it. */
export const renewRoundMs = (leaseSeconds * 1_000) / 3;

/** Takes the right to a round. Returns false while another process has it. */
export async function takeRound(tx: Tx, name: string, holder: string): Promise<boolean> {
  const taken = await tx.run(sql`
    insert into store_round (name, holder, held_until)
    values (${name}, ${holder}, now() + make_interval(secs => ${leaseSeconds}))
    on conflict (name) do update set holder = excluded.holder, held_until = excluded.held_until
    where store_round.holder is null or store_round.held_until <= now()
  `);
  return taken > 0;
}

/** Extends the right to a round. Returns false when another process has taken it, or could have. */
export async function renewRound(tx: Tx, name: string, holder: string): Promise<boolean> {
  const renewed = await tx.run(sql`
    update store_round set held_until = now() + make_interval(secs => ${leaseSeconds})
    where name = ${name} and holder = ${holder} and held_until > now()
  `);
  return renewed > 0;
}

export async function releaseRound(tx: Tx, name: string, holder: string): Promise<void> {
  await tx.run(sql`
    update store_round set holder = null, held_until = null
    where name = ${name} and holder = ${holder}
  `);
}

/** Returns what the last round found; null before the first. */
export async function readRoundNotes(tx: Tx, name: string): Promise<unknown> {
  const [row] = await tx.many(
    z.object({ noted: z.unknown() }),
    sql`select noted from store_round where name = ${name}`,
  );
  return row?.noted ?? null;
}

/** Stores what a round found, for the process that has the right to it. Returns false for any other. */
export async function writeRoundNotes(
  tx: Tx,
  name: string,
  holder: string,
  noted: unknown,
): Promise<boolean> {
  const written = await tx.run(sql`
    update store_round set noted = ${JSON.stringify(noted)}::jsonb
    where name = ${name} and holder = ${holder}
  `);
  return written > 0;
}
