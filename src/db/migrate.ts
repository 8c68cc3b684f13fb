import { readdir, readFile } from "node:fs/promises";
import { z } from "zod";
import { Fault } from "#core/fault.ts";
import type { Db, Tx } from "./db.ts";
import { sql } from "./sql.ts";
import { setForTransaction, timeLimits } from "./time-limits.ts";

/** One lock for all servers that start at once; the number is arbitrary but used only here. */
const migrationLock = 7_240_911;

export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly text: string;
}

/** Reads the migrations beside this file, or beside the bundle that contains it. */
export async function readMigrations(
  folder: URL = new URL("./migrations/", import.meta.url),
): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).toSorted();
  return Promise.all(
    names.map(async (name) => ({
      number: Number(name.slice(0, 4)),
      name,
      text: await readFile(new URL(name, folder), "utf8"),
    })),
  );
}

/** The statement that creates the table of applied migrations, when it does not exist. */
export const migrationTable = `
  create table if not exists migration (
    number integer primary key,
    name text not null,
    applied_at timestamptz not null default now()
  )
`;

/**
 * Brings the database up to this version of the code, all steps in one transaction.
 *
 * Refused when the database is newer: old code would misread it. Migrations go
 * forward only; to go back, restore a backup.
 */
export async function migrate(db: Db, migrations?: readonly Migration[]): Promise<void> {
  const known = migrations ?? (await readMigrations());
  await db.transaction(async (tx) => {
    // Another server may take any time for its migrations. Waiting for table locks has a limit: while this transaction
    // waits for a table, all later transactions wait behind it.
    await tx.run(sql`select set_config('lock_timeout', '0', true)`);
    await tx.run(sql`select pg_advisory_xact_lock(${migrationLock})`);
    await tx.run(setForTransaction(timeLimits.migration));
    await tx.script(migrationTable);
    const applied = await tx.many(
      z.object({ number: z.number(), name: z.string() }),
      sql`select number, name from migration order by number`,
    );
    const newest = known.at(-1)?.number ?? 0;
    const ahead = applied.find((row) => row.number > newest);
    if (ahead !== undefined) {
      throw new Fault(
        "failed_precondition",
        `the data was written by a newer version of Grange (it has ${ahead.name}; this version knows up to ${newest}). ` +
          "Update Grange, or start with another data directory (GRANGE_DATA)",
      );
    }
    const done = new Set(applied.map((row) => row.number));
    for (const migration of known.filter((each) => !done.has(each.number))) {
      await tx.script(migration.text);
      await tx.run(
        sql`insert into migration (number, name) values (${migration.number}, ${migration.name})`,
      );
    }
  }, "migration");
}

/**
 * Returns the known migrations that a database lacks, and the name of an applied one that is unknown to this version.
 */
export async function migrationState(
  db: Db,
): Promise<{ readonly missing: number; readonly newer: string | undefined }> {
  const known = await readMigrations();
  const [table] = await db.many(
    z.object({ isThere: z.boolean() }),
    sql`select to_regclass('migration') is not null as "isThere"`,
  );
  if (table?.isThere !== true) return { missing: known.length, newer: undefined };
  const applied = await db.many(
    z.object({ number: z.number(), name: z.string() }),
    sql`select number, name from migration order by number`,
  );
  const newest = known.at(-1)?.number ?? 0;
  const numbers = new Set(applied.map(({ number }) => number));
  return {
    missing: known.filter(({ number }) => !numbers.has(number)).length,
    newer: applied.find(({ number }) => number > newest)?.name,
  };
}

/** Returns the number of the newest applied migration. */
export async function newestMigration(tx: Tx): Promise<number> {
  const [row] = await tx.many(
    z.object({ number: z.number() }),
    sql`select coalesce(max(number), 0) as number from migration`,
  );
  return row?.number ?? 0;
}
