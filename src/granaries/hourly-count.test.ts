import { afterAll, expect, test } from "vitest";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { countOnce, deleteCounts } from "./hourly-count.store.ts";

const db = await freshDb();
afterAll(() => db.close());

const bound = (who: string, most = 2) => ({ what: "told of it", who, most });

test("each principal has a limit per hour", async () => {
  await countOnce(db, bound("a"));
  await countOnce(db, bound("a"));
  await countOnce(db, bound("b"));

  await expect(countOnce(db, bound("a"))).rejects.toMatchObject({
    code: "resource_exhausted",
    message: "a has told of it 2 times within an hour, which is the limit",
  });
  await db.run(sql`update hourly_count set since = since - interval '1 hour' where who = 'a'`);
  await countOnce(db, bound("a"));
  await countOnce(db, bound("a"));
  await expect(countOnce(db, bound("a"))).rejects.toMatchObject({ code: "resource_exhausted" });
});

test("servers that count at once do not exceed the limit together", async () => {
  const ends = await Promise.allSettled(
    Array.from({ length: 20 }, () => countOnce(db, bound("many", 7))),
  );

  expect(ends.filter(({ status }) => status === "fulfilled")).toHaveLength(7);
});

test("counts of past hours are deleted", async () => {
  await countOnce(db, bound("gone", 1));
  await db.run(sql`update hourly_count set since = since - interval '2 hours' where who = 'gone'`);

  await deleteCounts(db, new Date(Date.now() - 3_600_000));

  expect(await db.run(sql`delete from hourly_count where who = 'gone'`)).toBe(0);
});
