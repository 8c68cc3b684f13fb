import { expect, test } from "vitest";
import { z } from "zod";
import { Fault } from "#core/fault.ts";
import { freshDatabase } from "../../test/support/fresh-db.ts";
import { openPostgres } from "./postgres.ts";
import { sql } from "./sql.ts";
import { together } from "./together.ts";

const url = await freshDatabase();
const Number_ = z.object({ n: z.number() });

test("statements that are sent together run in their order, and answer in it", async () => {
  const db = openPostgres({ url });
  await db.script("create table told (n integer)");

  const [, rows, count] = await db.transaction((tx) =>
    together([
      tx.run(sql`insert into told values (1), (2)`),
      tx.many(Number_, sql`select n from told order by n`),
      tx.run(sql`delete from told`),
    ]),
  );

  expect(rows).toEqual([{ n: 1 }, { n: 2 }]);
  expect(count).toBe(2);
  await db.close();
});

test("what failed first is told, and all of them are over by then", async () => {
  const db = openPostgres({ url, poolSize: 1 });
  let isOver = false;

  const failed = db.transaction((tx) =>
    together([
      (async () => {
        await tx.run(sql`select 1`);
        await tx.run(sql`select 2`).finally(() => (isOver = true));
      })(),
      tx.run(sql`select 1 / 0`),
    ]),
  );

  await expect(failed).rejects.toThrow(/division by zero/);
  expect(isOver).toBe(true);
  expect(await db.many(Number_, sql`select 1 as n`)).toEqual([{ n: 1 }]);
  await db.close();
});

test("a statement that nobody waited for, and that failed, does not pass for stored", async () => {
  const db = openPostgres({ url });
  await db.script("create table kept (n integer)");

  const spoilt = db.transaction(async (tx) => {
    await tx.run(sql`insert into kept values (1)`);
    tx.run(sql`select 1 / 0`).catch(() => {});
  });

  await expect(spoilt).rejects.toBeInstanceOf(Fault);
  expect(await db.many(Number_, sql`select n from kept`)).toEqual([]);
  await db.close();
});
