import { expect, test } from "vitest";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { changeFeed } from "./change-feed.ts";

const db = await freshDb();
const never = new AbortController().signal;
const tell = (topic: string) => db.run(sql`select pg_notify('things', ${topic})`);

test("a change that came after the ticket was taken is not missed", async () => {
  const feed = await changeFeed(db, "things");
  const ticket = feed.ticket("a");
  const all = feed.ticket("");

  await tell("a");
  await all.changed(10_000, never);

  // The change has happened already, so this does not wait. Otherwise the test would time out.
  await expect(ticket.changed(600_000, never)).resolves.toBe(true);
  await feed.stop();
});

test("a ticket hears only its topic, and ends when its signal does", async () => {
  const feed = await changeFeed(db, "things");
  const a = feed.ticket("a");
  const b = feed.ticket("b");
  const leave = new AbortController();
  let heardA = false;
  const waitA = a.changed(60_000, leave.signal).then(() => (heardA = !leave.signal.aborted));

  await tell("b");
  await b.changed(10_000, never);
  expect(heardA).toBe(false);

  leave.abort();
  await waitA;
  await feed.stop();
});

test("one feed hears several channels, and each topic of a payload that names many", async () => {
  const feed = await changeFeed(db, "things", "other_things");
  const a = feed.ticket("a");
  const b = feed.ticket("b");

  await db.run(sql`select pg_notify('other_things', 'a,b')`);

  // If the change was missed, the test would time out.
  await expect(a.changed(600_000, never)).resolves.toBe(true);
  await expect(b.changed(600_000, never)).resolves.toBe(true);
  await feed.stop();
});
