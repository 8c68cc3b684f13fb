import type { Readable } from "node:stream";
import pg from "pg";
import { to as copyTo } from "pg-copy-streams";
import { z } from "zod";
import { Fault } from "#core/fault.ts";
import { connectionTarget } from "./connection-target.ts";
import { databaseFault } from "./database-fault.ts";
import { readMigrations } from "./migrate.ts";
import {
  backupLock,
  type DumpedSchema,
  DumpedSequence,
  type DumpedTable,
  withoutTimeouts,
} from "./table-copy.ts";

/** Stores the rows of one table; resolves when they are stored. */
type KeepRows = (table: string, rows: Readable) => Promise<void>;

const Table = z.object({ name: z.string(), columns: z.array(z.string()) });
type Table = z.infer<typeof Table>;

/**
 * Reads every table of a database as it was at one moment, while others write.
 *
 * One read-only transaction reads them all (REPEATABLE READ). It locks the tables against migrations first, so that no
 * table's schema differs from its rows. Only migrations wait for it.
 *
 * `whileHeld` runs after the rows were read and before the lock of backups is released. No transaction is open then.
 *
 * @throws Fault `failed_precondition` when another backup of the farm runs, or the database is of a newer version
 */
export async function dumpTables<T>(
  url: string,
  keepRows: KeepRows,
  onTables: (count: number) => void,
  whileHeld: (schema: DumpedSchema, tables: readonly DumpedTable[]) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    ...connectionTarget(url),
    application_name: "grange backup",
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  const lost: { reason: Error | undefined } = { reason: undefined };
  client.on("error", (reason) => {
    lost.reason = reason;
  });
  try {
    await client.connect().catch(fail);
    const query = async <Row extends z.ZodType>(row: Row, text: string) =>
      z.array(row).parse((await client.query(text).catch(fail)).rows);
    await client.query(withoutTimeouts).catch(fail);
    const [lock] = await query(
      z.object({ taken: z.boolean() }),
      `select pg_try_advisory_lock(${backupLock}) as taken`,
    );
    if (lock?.taken !== true) {
      throw new Fault(
        "failed_precondition",
        "another backup of this farm is under way; wait until it has ended",
      );
    }
    const named = await query(Table, tablesOfSchema);
    if (!named.some(({ name }) => name === "migration")) {
      throw new Fault("failed_precondition", "the database is empty: there is no farm to back up");
    }
    await client.query("begin isolation level repeatable read read only").catch(fail);
    // Before the snapshot, which the first query takes, so that a migration is either complete before both, or waits.
    const all = named.map(({ name }) => pg.escapeIdentifier(name)).join(", ");
    await client.query(`lock table ${all} in access share mode`).catch(fail);
    const tables = await query(Table, tablesOfSchema);
    if (tables.length !== named.length) {
      throw new Fault("aborted", "the database was migrated at this moment; run the backup again");
    }
    const migrations = await migrationsIn(query);
    onTables(tables.length);
    const dumped: DumpedTable[] = [];
    for (const table of tables) dumped.push(await dumpTable(client, table, keepRows, lost));
    const sequences = await query(DumpedSequence, sequencesOfSchema);
    const [server] = await query(z.object({ server_version: z.string() }), "show server_version");
    await client.query("commit").catch(fail);
    const schema = { serverVersion: server?.server_version ?? "", migrations, sequences };
    return await whileHeld(schema, dumped);
  } finally {
    await client.end().catch(() => {});
  }
}

async function dumpTable(
  client: pg.Client,
  table: Table,
  keepRows: KeepRows,
  lost: { readonly reason: Error | undefined },
) {
  const columns = table.columns.map((each) => pg.escapeIdentifier(each)).join(", ");
  const rows = client.query(
    copyTo(`copy ${pg.escapeIdentifier(table.name)} (${columns}) to stdout`),
  );
  await keepRows(table.name, rows).catch((reason: unknown) => {
    // Other errors come from storing the rows; the caller can describe them better.
    const isOfDatabase = reason instanceof pg.DatabaseError || lost.reason !== undefined;
    throw isOfDatabase ? databaseFault(lost.reason ?? reason) : reason;
  });
  // The stream ends before the message that says how many rows there were; the next answer comes after it.
  await client.query("select 1").catch(fail);
  return { name: table.name, columns: table.columns, rows: rows.rowCount };
}

/** Refuses unknown migrations: their tables may contain data that cannot be restored from rows alone. */
async function migrationsIn(
  query: (row: z.ZodObject<{ name: z.ZodString }>, text: string) => Promise<{ name: string }[]>,
): Promise<string[]> {
  const Name = z.object({ name: z.string() });
  const applied = (await query(Name, "select name from migration order by number")).map(
    ({ name }) => name,
  );
  const known = (await readMigrations()).map(({ name }) => name);
  const unknown = applied.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new Fault(
      "failed_precondition",
      `the data was written by a newer version of Grange (it has ${unknown}); back it up with that version`,
    );
  }
  const missing = known.find((name) => !applied.includes(name));
  if (missing === undefined) return applied;
  throw new Fault(
    "failed_precondition",
    `the data is of an older version of Grange (it lacks ${missing}); back it up with that version, or start a server of this one first`,
  );
}

/** Tables of extensions are left out: they are created with the extension at a restore. */
const tablesOfSchema = `
  select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
  where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relpersistence <> 't'
    and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
  group by c.relname
  order by c.relname
`;

/** `last_value` is null until the first use of a sequence. */
const sequencesOfSchema = `
  select sequencename as name, coalesce(last_value, start_value)::text as "lastValue", last_value is not null as "isCalled"
  from pg_sequences where schemaname = current_schema() order by sequencename
`;

function fail(reason: unknown): never {
  throw databaseFault(reason);
}
