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
    const { missing, newer } = compareMigrations(known, await appliedMigrations(tx));
    if (newer !== undefined) {
      throw new Fault(
        "failed_precondition",
        `the data was written by a newer version of Grange (it has ${newer}; this version knows up to ${newestOf(known)}). ` +
          "Update Grange, or start with another data directory (GRANGE_DATA)",
      );
    }
    for (const migration of missing) {
      await tx.script(migration.text);
      await tx.run(
        sql`insert into migration (number, name) values (${migration.number}, ${migration.name})`,
      );
    }
  }, "migration");
}

/** How the migrations of a database differ from those of this version. */
interface MigrationState {
  /** Those that the database lacks, in their order. */
  readonly missing: readonly Migration[];
  /** The name of an applied migration that is newer than this version. */
  readonly newer: string | undefined;
}

/** Compares the migrations of a database, which may be empty, with those of this version. */
export async function migrationState(db: Db): Promise<MigrationState> {
  const [table] = await db.many(
    z.object({ isThere: z.boolean() }),
    sql`select to_regclass('migration') is not null as "isThere"`,
  );
  const applied = table?.isThere === true ? await appliedMigrations(db) : [];
  return compareMigrations(await readMigrations(), applied);
}

/** Returns the number of the newest migration of a database that has been migrated. */
export async function newestMigration(tx: Tx): Promise<number> {
  return newestOf(await appliedMigrations(tx));
}

type Applied = Pick<Migration, "number" | "name">;

function compareMigrations(
  known: readonly Migration[],
  applied: readonly Applied[],
): MigrationState {
  const done = new Set(applied.map(({ number }) => number));
  return {
    missing: known.filter(({ number }) => !done.has(number)),
    newer: applied.find(({ number }) => number > newestOf(known))?.name,
  };
}

function appliedMigrations(tx: Tx): Promise<Applied[]> {
  return tx.many(
    z.object({ number: z.number(), name: z.string() }),
    sql`select number, name from migration order by number`,
  );
}

function newestOf(inOrder: readonly Applied[]): number {
  return inOrder.at(-1)?.number ?? 0;
}
