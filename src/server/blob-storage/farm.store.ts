import { z } from "zod";
import type { Db, Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/** The farm that this database belongs to. */
interface Farm {
  readonly id: string;
  /** Whether a store of blobs has ever belonged to the farm. */
  readonly hasStore: boolean;
}

/** Gives the database a farm id, unless it has one. When two servers start at once, only one of them does so. */
export async function makeFarm(db: Db, id: string, now: Date): Promise<void> {
  await db.run(
    sql`insert into farm (id, created_at) values (${id}, ${now}) on conflict do nothing`,
  );
}

const FarmRow = z.object({ id: z.uuid(), hasStore: z.boolean() });

/** Returns the farm; undefined when no server has created it yet, and before the migration that adds its table. */
export async function readFarm(db: Db): Promise<Farm | undefined> {
  const [table] = await db.many(
    z.object({ isThere: z.boolean() }),
    sql`select to_regclass('farm') is not null as "isThere"`,
  );
  if (table?.isThere !== true) return undefined;
  const [farm] = await db.many(
    FarmRow,
    sql`select id, store_claimed_at is not null as "hasStore" from farm`,
  );
  return farm;
}

/** Returns the farm and locks it: other servers wait to read it until the transaction ends. */
export async function lockFarm(tx: Tx): Promise<Farm> {
  const [farm] = await tx.many(
    FarmRow,
    sql`select id, store_claimed_at is not null as "hasStore" from farm for update`,
  );
  if (farm === undefined) throw new Error("the database has no farm");
  return farm;
}

export async function storeIsClaimed(tx: Tx, now: Date): Promise<void> {
  await tx.run(sql`update farm set store_claimed_at = coalesce(store_claimed_at, ${now})`);
}
