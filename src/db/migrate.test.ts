import { expect, test } from "vitest";
import { z } from "zod";
import { freshDatabase } from "../../test/support/fresh-db.ts";
import { migrate, readMigrations } from "./migrate.ts";
import { openPostgres } from "./postgres.ts";
import { sql } from "./sql.ts";

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
  const known = await readMigrations();

  const broken = [
    ...known,
    { number: 9_001, name: "9001_good.sql", text: "create table good ()" },
    { number: 9_002, name: "9002_bad.sql", text: "create table bad (" },
  ];

  await expect(migrate(db, broken)).rejects.toThrow(/syntax error/);
  await expect(db.run(sql`select from good`)).rejects.toThrow(/does not exist/);
  await db.close();
});
