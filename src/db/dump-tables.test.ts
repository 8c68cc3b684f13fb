import { randomBytes } from "node:crypto";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import pg from "pg";
import { afterAll, expect, test } from "vitest";
import { freshDatabase } from "../../test/support/fresh-db.ts";
import { dumpTables } from "./dump-tables.ts";
import { openPostgres } from "./postgres.ts";
import { sql } from "./sql.ts";

const url = await freshDatabase();
const db = openPostgres({ url });
afterAll(() => db.close());

const nothing = async (_table: string, rows: Readable) => void (await text(rows));

test("what is committed while tables are read is in none of them, and no writer waits", async () => {
  const dumped = new Map<string, string>();
  await dumpTables(
    url,
    async (table, rows) => {
      // Inserts one more row of each kind for every table that is read: only rows from before the snapshot count.
      await db.run(
        sql`insert into repository (name, url) values (${randomBytes(6).toString("hex")}, ${randomBytes(6).toString("hex")})`,
      );
      dumped.set(table, await text(rows));
    },
    () => {},
    async (_schema, tables) => {
      const repository = tables.find(({ name }) => name === "repository");
      expect(repository?.rows).toBe(0);
    },
  );

  expect(dumped.get("repository")).toBe("");
  expect(dumped.get("migration")).toMatch(/^1\t0001_execution\.sql\t/);
});

test("a dump whose connection is ended says so, and a later one may begin", async () => {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  const cut = dumpTables(
    url,
    async (table, rows) => {
      if (table === "definition")
        await admin.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'grange backup'",
        );
      await text(rows);
    },
    () => {},
    async () => {},
  );
  await expect(cut).rejects.toMatchObject({ code: "unavailable" });
  await admin.end();

  await dumpTables(
    url,
    nothing,
    () => {},
    async () => {},
  );
});

test("a database of another version is refused", async () => {
  await db.run(sql`insert into migration (number, name) values (9999, '9999_future.sql')`);
  const newer = dumpTables(
    url,
    nothing,
    () => {},
    async () => {},
  );
  await expect(newer).rejects.toThrow(/newer version/);
  await db.run(sql`delete from migration where number = 9999`);

  await db.run(sql`delete from migration where name = '0064_backup.sql'`);
  const older = dumpTables(
    url,
    nothing,
    () => {},
    async () => {},
  );
  await expect(older).rejects.toThrow(/older version.*0064_backup/);
});
