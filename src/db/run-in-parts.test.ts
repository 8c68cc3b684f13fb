import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { freshDb } from "../../test/support/fresh-db.ts";
import { runInParts } from "./run-in-parts.ts";
import { sql } from "./sql.ts";

const db = await freshDb();
await db.script("create table part (number integer generated always as identity, items integer[])");
afterAll(() => db.close());

const Part = z.object({ items: z.array(z.number()) });
const stored = () => db.many(Part, sql`select items from part order by number`);
const insert = (items: readonly number[]) =>
  sql`insert into part (items) values (${[...items]}::integer[])`;

test("each part of a list is stored, in order", async () => {
  await db.transaction((tx) => runInParts(tx, [1, 2, 3, 4, 5], 2, insert));

  expect(await stored()).toEqual([{ items: [1, 2] }, { items: [3, 4] }, { items: [5] }]);
});

test("an empty list needs no statement", async () => {
  await db.run(sql`delete from part`);

  await db.transaction((tx) => runInParts(tx, [], 2, insert));

  expect(await stored()).toEqual([]);
});

test("the error of the first part that failed is thrown, and nothing is stored", async () => {
  await db.run(sql`delete from part`);

  const failed = db.transaction((tx) =>
    runInParts(tx, [1, 0, 2], 1, ([divisor = 0]) =>
      divisor === 0 ? sql`select 1 / ${divisor}::integer` : insert([divisor]),
    ),
  );

  await expect(failed).rejects.toThrow(/division by zero/);
  expect(await stored()).toEqual([]);
});
