import { expect, test } from "vitest";
import { z } from "zod";
import { freshDatabase } from "../../test/support/fresh-db.ts";
import { openPostgres } from "./postgres.ts";
import { sql } from "./sql.ts";
import { withCommit } from "./with-commit.ts";

const url = await freshDatabase();
const Number_ = z.object({ n: z.number() });

test("what is sent with the commit is stored, and answered when it is", async () => {
  const db = openPostgres({ url });
  await db.script("create table late (n integer)");

  const { told } = await db.transaction(async (tx) => {
    const told = tx.many(Number_, sql`insert into late values (1) returning n`);
    await withCommit(tx, told);
    return { told };
  });

  expect(await told).toEqual([{ n: 1 }]);
  expect(await db.many(Number_, sql`select n from late`)).toEqual([{ n: 1 }]);
  await db.close();
});

test("what fails with the commit undoes all of it, and says of what it failed", async () => {
  const db = openPostgres({ url, poolSize: 1 });
  await db.script("create table undone (n integer)");

  const failed = db.transaction(async (tx) => {
    await tx.run(sql`insert into undone values (1)`);
    await withCommit(tx, tx.run(sql`select 1 / 0`));
  });

  await expect(failed).rejects.toThrow(/division by zero/);
  expect(await db.many(Number_, sql`select n from undone`)).toEqual([]);
  await db.close();
});

test("of several that are sent with the commit, the first that failed is told, not what failed with it", async () => {
  const db = openPostgres({ url, poolSize: 1 });

  const failed = db.transaction(async (tx) => {
    const first = tx.run(sql`select assume(1 = 2, 'numbers are alike')`);
    const slower = (async () => {
      await Promise.allSettled([first]);
      await new Promise((resolve) => setImmediate(resolve));
      await first;
    })();
    await withCommit(tx, slower);
    await withCommit(tx, tx.run(sql`select 1`));
  });

  await expect(failed).rejects.toMatchObject({
    code: "aborted",
    message: "the database reports: it was assumed that numbers are alike",
  });
  await db.close();
});

test("a statement that comes after its transaction is refused", async () => {
  const db = openPostgres({ url });
  await db.script("create table after_all (n integer)");
  let later = async () => {};

  await db.transaction(async (tx) => {
    later = async () => void (await tx.run(sql`insert into after_all values (1)`));
  });

  await expect(later()).rejects.toThrow(/after its transaction/);
  expect(await db.many(Number_, sql`select n from after_all`)).toEqual([]);
  await db.close();
});
