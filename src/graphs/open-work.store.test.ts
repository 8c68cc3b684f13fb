import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { farmOfKinds } from "./kinds/farm-of-kinds.fixture.ts";
import { hasGraphWorkBy } from "./open-work.store.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfKinds>>;
beforeAll(async () => {
  farm = await farmOfKinds(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});
// Removes the work that earlier tests left.
beforeEach(() =>
  db.script(`
    update graph set state = 'succeeded', finished_at = now() where state = 'running';
    update run set due_at = null;
  `),
);

async function isOpen(withinMs = 0): Promise<boolean> {
  const by = new Date(farm.now().getTime() + withinMs);
  const rows = await db.many(
    z.object({ open: z.boolean() }),
    sql`select ${hasGraphWorkBy(by)} as open`,
  );
  return rows[0]?.open === true;
}

test("a graph with a job to run is open work", async () => {
  await farm.submitJobs("  a: {commands: make}");

  expect(await isOpen()).toBe(true);
});

test("a graph that waits for a person is not", async () => {
  const id = await farm.submitJobs(
    "  b: {kind: breakpoint}\n  a: {commands: make, needs: [b]}\n  d: {kind: dummy}",
  );

  expect(await farm.states(id)).toMatchObject({ a: "blocked", b: "waiting", d: "succeeded" });
  expect(await isOpen()).toBe(false);
});

test("a graph that waits for a time is not until then", async () => {
  await farm.submitJobs("  t: {kind: timer, after: 10m}\n  a: {commands: make, needs: [t]}");

  expect(await isOpen(9 * 60_000)).toBe(false);
  expect(await isOpen(10 * 60_000)).toBe(true);
});

test("a graph with a running job beside a waiting one is open work", async () => {
  await farm.submitJobs("  b: {kind: breakpoint}\n  a: {commands: make}");

  expect(await isOpen()).toBe(true);
});

test("a waiting job that expires is open work when its time has come", async () => {
  await farm.submitJobs("  b: {kind: breakpoint}\n  a: {commands: make, needs: [b], ttl: 1h}");

  expect(await isOpen(59 * 60_000)).toBe(false);
  expect(await isOpen(61 * 60_000)).toBe(true);
});
