import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { z } from "zod";
import { Fault, messageOf } from "#core/fault.ts";
import { connectionTarget } from "./connection-target.ts";
import { databaseFault } from "./database-fault.ts";
import { migrationTable, readMigrations } from "./migrate.ts";
import type { Migration } from "./server-compatibility.ts";
import { type DumpedSchema, type DumpedTable, withoutTimeouts } from "./table-copy.ts";

/**
 * The migrations that made the schema of a dump, in their order.
 *
 * @throws Fault `failed_precondition` for a dump of a newer version, whose schema this code cannot make
 */
export async function migrationsOfDump({ migrations }: DumpedSchema): Promise<Migration[]> {
  const known = new Map((await readMigrations()).map((each) => [each.name, each]));
  return migrations.map((name) => {
    const migration = known.get(name);
    if (migration !== undefined) return migration;
    throw new Fault(
      "failed_precondition",
      `the backup was made by a newer version of Grange (it has ${name}); restore it with that version or a later one`,
    );
  });
}

/** Throws `failed_precondition` unless a database has no tables. */
export async function requireEmptyDatabase(url: string): Promise<void> {
  await connected(url, requireEmpty);
}

/**
 * Makes the schema of a dump in an empty database and fills its tables, in one transaction: a load that fails or is
 * killed leaves the database empty.
 *
 * The schema is made by the migrations that the dump names; newer ones run when a server starts. Foreign keys are
 * dropped for the load and made again after it, which checks every row, and allows any order of tables.
 *
 * @param rowsOf the rows of a table in the text format of COPY
 */
export async function loadTables(
  url: string,
  schema: DumpedSchema,
  tables: readonly DumpedTable[],
  rowsOf: (table: string) => Readable,
  onTable: (table: DumpedTable) => void,
): Promise<void> {
  const migrations = await migrationsOfDump(schema);
  await connected(url, async (client) => {
    await client.query("begin").catch(fail);
    await requireEmpty(client);
    await client.query(migrationTable).catch(fail);
    for (const { text } of migrations) await client.query(text).catch(fail);
    const Name = z.object({ name: z.string() });
    const made = z.array(Name).parse((await client.query(tablesOfSchema).catch(fail)).rows);
    const foreignKeys = z
      .array(ForeignKey)
      .parse((await client.query(foreignKeysOfSchema).catch(fail)).rows);
    for (const { table, name } of foreignKeys) {
      await client.query(`alter table ${table} drop constraint ${name}`).catch(fail);
    }
    const names = made.map(({ name }) => pg.escapeIdentifier(name));
    for (const name of names) {
      await client.query(`alter table ${name} disable trigger user`).catch(fail);
    }
    // Some migrations insert rows; the dump contains these rows in their current state.
    await client.query(`truncate ${names.join(", ")}`).catch(fail);
    const ours = new Set(made.map(({ name }) => name));
    for (const table of tables) {
      // Tables that no migration made belong to another user of the database.
      if (!ours.has(table.name)) continue;
      await loadTable(client, table, rowsOf(table.name));
      onTable(table);
    }
    for (const { name, lastValue, isCalled } of schema.sequences) {
      await client
        .query("select setval(to_regclass($1), $2, $3)", [
          pg.escapeIdentifier(name),
          lastValue,
          isCalled,
        ])
        .catch(fail);
    }
    for (const { table, name, definition } of foreignKeys) {
      await client.query(`alter table ${table} add constraint ${name} ${definition}`).catch(fail);
    }
    for (const name of names) {
      await client.query(`alter table ${name} enable trigger user`).catch(fail);
    }
    await client.query("commit").catch(fail);
    // The planner has no statistics of the tables that were just filled.
    await client.query("analyze").catch(fail);
  });
}

async function loadTable(client: pg.Client, table: DumpedTable, rows: Readable): Promise<void> {
  const columns = table.columns.map((each) => pg.escapeIdentifier(each)).join(", ");
  const copy = client.query(
    copyFrom(`copy ${pg.escapeIdentifier(table.name)} (${columns}) from stdin`),
  );
  try {
    await pipeline(rows, copy);
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    const { message, code } = databaseFault(cause);
    throw new Fault(code, `the table ${table.name} cannot be restored: ${message}`, { cause });
  }
  if (copy.rowCount === table.rows) return;
  throw new Fault(
    "data_loss",
    `the backup is damaged: the table ${table.name} has ${copy.rowCount} rows and not ${table.rows}`,
  );
}

async function requireEmpty(client: pg.Client): Promise<void> {
  const { rows } = await client.query(tablesOfSchema).catch(fail);
  if (rows.length === 0) return;
  throw new Fault(
    "failed_precondition",
    `the database is not empty: it has ${rows.length} tables. Restore into a new database, so that nothing is overwritten`,
  );
}

async function connected(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({
    ...connectionTarget(url),
    application_name: "grange restore",
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  client.on("error", () => {});
  try {
    await client.connect().catch((cause: unknown) => {
      throw new Fault("unavailable", `cannot reach the database: ${messageOf(cause)}`, { cause });
    });
    await client.query(withoutTimeouts).catch(fail);
    await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}

/** Quoted for use in a statement. */
const ForeignKey = z.object({ table: z.string(), name: z.string(), definition: z.string() });

const foreignKeysOfSchema = `
  select conrelid::regclass::text as "table", quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
  from pg_constraint
  where contype = 'f' and connamespace = current_schema()::regnamespace
  order by conrelid::regclass::text, conname
`;

const tablesOfSchema = `
  select c.relname as name from pg_class c
  where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relpersistence <> 't'
    and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
  order by c.relname
`;

function fail(reason: unknown): never {
  throw databaseFault(reason);
}
