import { expect, test } from "vitest";
import { z } from "zod";
import { freshDatabase } from "../../test/support/fresh-db.ts";
import { migrate, migrationState, readMigrations, readSchemaVersion } from "./migrate.ts";
import { openPostgres } from "./postgres.ts";
import { connectionName } from "./running-servers.store.ts";
import { newestOf, whyItBreaksOlderServers } from "./server-compatibility.ts";
import { sql } from "./sql.ts";

const known = await readMigrations();
const newest = newestOf(known);

function migration(number: number, text: string, worksWith: number | null = null) {
  return { number, name: `${number}_next.sql`, text, worksWith };
}

/** Opens a database as a server that knows the migrations up to a number. */
function asServer(url: string, knows: number) {
  const name = connectionName({ host: "attic", version: "0.1.0", knows });
  return openPostgres({ url, applicationName: name, poolSize: 1 });
}

test("migrating twice, and from two servers at once, changes nothing more", async () => {
  const url = await freshDatabase();
  const one = openPostgres({ url });
  const other = openPostgres({ url });

  await Promise.all([migrate(one), migrate(other)]);

  const rows = await one.many(
    z.object({ n: z.number() }),
    sql`select count(*) as n from migration`,
  );
  expect(rows[0]?.n).toBe((await readMigrations()).length);
  await Promise.all([one.close(), other.close()]);
});

test("data of a newer version is refused, and says what to do", async () => {
  const db = openPostgres({ url: await freshDatabase() });
  await db.run(sql`insert into migration (number, name) values (9999, '9999_future.sql')`);

  await expect(migrate(db)).rejects.toThrow(/newer version of Grange.*GRANGE_DATA/);
  await db.close();
});

test("a migration that fails leaves the database as it was", async () => {
  const db = openPostgres({ url: await freshDatabase() });

  const broken = [
    ...known,
    migration(9_001, "create table good ()"),
    migration(9_002, "create table bad ("),
  ];

  await expect(migrate(db, { migrations: broken })).rejects.toThrow(/syntax error/);
  await expect(db.run(sql`select from good`)).rejects.toThrow(/does not exist/);
  await db.close();
});

test("a migration that works with running servers is applied beside them, and they start again", async () => {
  const url = await freshDatabase();
  const older = asServer(url, newest);
  await migrate(older);
  const next = openPostgres({ url });
  const expanding = migration(9_001, "create table more ()", newest);

  expect(await migrate(next, { migrations: [...known, expanding] })).toEqual([]);

  expect(await migrate(older)).toEqual(["9001_next.sql"]);
  expect(await readSchemaVersion(older)).toEqual({ newest: 9_001, needed: newest });
  await Promise.all([older.close(), next.close()]);
});

test("a migration after which a running server would fail waits for its end, then refuses the server", async () => {
  const url = await freshDatabase();
  const older = asServer(url, newest);
  await migrate(older);
  const next = openPostgres({ url });
  const migrations = [...known, migration(9_001, "create table more ()")];

  await expect(migrate(next, { migrations, waitMs: 0 })).rejects.toThrow(
    /would fail after 9001_next\.sql: version 0\.1\.0 on attic\. Stop them/,
  );
  await expect(next.run(sql`select from more`)).rejects.toThrow(/does not exist/);

  const migrated = migrate(next, { migrations, onWait: () => void older.close() });
  await migrated;
  const again = asServer(url, newest);
  await expect(migrate(again)).rejects.toThrow(/newer version of Grange/);
  await Promise.all([again.close(), next.close()]);
});

test("a version whose servers were updated in between can remove what only older servers use", async () => {
  const url = await freshDatabase();
  const between = asServer(url, 9_001);
  const expanding = migration(9_001, "create table more ()", newest);
  await migrate(between, { migrations: [...known, expanding] });
  const older = asServer(url, newest);
  await migrate(older);
  const next = openPostgres({ url });
  const migrations = [...known, expanding, migration(9_002, "drop table more", 9_001)];

  await expect(migrate(next, { migrations, waitMs: 0 })).rejects.toThrow(/9002_next\.sql/);
  await older.close();
  await migrate(next, { migrations });

  expect((await migrationState(next)).ahead).toEqual(["9001_next.sql", "9002_next.sql"]);
  await Promise.all([between.close(), next.close()]);
});

test("a migration that meets locks of running servers is tried again", async () => {
  const url = await freshDatabase();
  const older = asServer(url, newest);
  await migrate(older);
  await older.script("create table busy ()");
  const next = openPostgres({ url });
  const changing = "set local lock_timeout = '50ms'; alter table busy add column more text";
  const migrations = [...known, migration(9_001, changing, newest)];

  const started = older.transaction(async (tx) => {
    await tx.run(sql`select from busy`);
    const migrated = migrate(next, { migrations });
    // The lock is held until the migration has failed at least once.
    await expect.poll(async () => (await tx.many(Waiting, waiting))[0]?.n, { interval: 5 }).toBe(1);
    await expect.poll(async () => (await tx.many(Waiting, waiting))[0]?.n, { interval: 5 }).toBe(0);
    return { migrated };
  });

  await (await started).migrated;
  expect((await readSchemaVersion(next)).newest).toBe(9_001);
  await Promise.all([older.close(), next.close()]);
});

const Waiting = z.object({ n: z.number() });
const waiting = sql`
  select count(*)::integer as n from pg_locks
  where not granted and locktype = 'relation' and relation = to_regclass('busy')`;

/** Since then each migration says which servers work with it. */
const firstWithLine = 101;

test("each new migration says with which servers it works, and a migration that works with older ones keeps what they use", () => {
  const wrong = known.flatMap(({ number, name, text, worksWith }) => {
    if (worksWith === null)
      return number < firstWithLine || /^-- breaks-older-servers: ./m.test(text)
        ? []
        : [`${name} needs a line "-- works-with: N" or "-- breaks-older-servers: REASON"`];
    return worksWith === number ? [] : whyItBreaksOlderServers(text).map((why) => `${name} ${why}`);
  });

  expect(wrong).toEqual([]);
});

test.each([
  ["drop table graph", "removes what older servers may use"],
  ["alter table graph rename column state to phase", "renames what older servers may use"],
  [
    "alter table graph alter column name set not null",
    "requires values that older servers do not write",
  ],
  ["alter table graph alter column name type bigint", "changes the type of a column"],
  [
    "alter table graph add column size bigint not null;",
    "adds a column that older servers do not fill",
  ],
])("%s breaks older servers", (statement, why) => {
  expect(whyItBreaksOlderServers(statement)).toEqual([why]);
});

test.each([
  "-- drop table graph\ncreate table more (size bigint not null);",
  "alter table graph add column size bigint not null default 0;",
  "alter table graph add column size bigint, add column name text not null default '';",
])("%s works with older servers", (statement) => {
  expect(whyItBreaksOlderServers(statement)).toEqual([]);
});
