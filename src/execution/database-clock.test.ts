import { afterAll, expect, test } from "vitest";
import { freshDb } from "../../test/support/fresh-db.ts";
import { databaseClock } from "./database-clock.ts";

const db = await freshDb();
afterAll(() => db.close());

test("a server whose clock is a day fast uses the clock of the database", async () => {
  const dayMs = 86_400_000;
  const clock = await databaseClock(db, { now: () => new Date(Date.now() + dayMs) });
  await clock.stop();

  // The database of the tests is on this machine, so its clock is ours.
  expect(Math.abs(clock.now().getTime() - Date.now())).toBeLessThan(1_000);
});
