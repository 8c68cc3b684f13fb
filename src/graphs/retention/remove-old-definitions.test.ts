import { randomUUID } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { type Catalog, catalogOf } from "#definitions/catalog.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { keepCatalog } from "../graph.store.ts";
import { farmOfKinds } from "../kinds/farm-of-kinds.fixture.ts";
import { deleteGraphs } from "./old-graphs.store.ts";
import { removeOldDefinitions } from "./remove-old-definitions.ts";

const db = await freshDb();
const farm = await farmOfKinds(db);
afterAll(async () => {
  await farm.stop();
  await db.close();
});

const dayMs = 24 * 60 * 60_000;
const daysAgo = (days: number) => new Date(Date.now() - days * dayMs);
const remove = () => removeOldDefinitions(db, daysAgo(2));

/** Each has a definition of its own, and one that all share. */
function newCatalog(): Catalog {
  return catalogOf(
    new Map([
      ["own", { kind: "command", commands: [`own # ${randomUUID()}`] }],
      ["shared", { kind: "command", commands: ["shared"] }],
    ]),
  );
}

const Digest = z.object({ digest: z.string() });

async function storedDefinitions(catalog: Catalog): Promise<number> {
  const digests = catalog.entries.map(({ digest }) => digest);
  const rows = await db.many(
    Digest,
    sql`select digest from definition where digest = any(${digests}::text[])`,
  );
  return rows.length;
}

async function isStored(catalog: Catalog): Promise<boolean> {
  const rows = await db.many(
    Digest,
    sql`select digest from catalog where digest = ${catalog.digest}`,
  );
  return rows.length > 0;
}

/** As if nobody had used any catalog for ten days, and all branches had theirs since then. */
async function age(): Promise<void> {
  await db.run(sql`update catalog set used_at = now() - interval '10 days'`);
  await db.run(sql`update branch_catalog set since = now() - interval '10 days'`);
}

/** Resolves when a transaction waits for a lock that another one has. */
async function untilBlocked(): Promise<void> {
  for (;;) {
    const waiting = await db.many(
      z.object({ pid: z.number() }),
      sql`select pid from pg_locks where not granted and database = (
        select oid from pg_database where datname = current_database())
        union select pid from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (waiting.length > 0) return;
  }
}

/** Runs `work` in a transaction that commits when `end` is called. */
function openTransaction(work: (tx: Tx) => Promise<void>) {
  let tellDone = () => {};
  const done = new Promise<void>((resolve) => (tellDone = resolve));
  let end = () => {};
  const mayEnd = new Promise<void>((resolve) => (end = resolve));
  const committed = db.transaction(async (tx) => {
    await work(tx);
    tellDone();
    await mayEnd;
  });
  return { done, end, committed };
}

test("definitions stay while a graph or a branch has them, and are removed after that", async () => {
  const first = await farm.submitJobs(`  a: {commands: "first # ${randomUUID()}"}`);
  await farm.workAll();
  await age();
  const ofFirst = await db.many(
    z.object({ catalog: z.string(), definition: z.string() }),
    sql`select graph.catalog, job.definition from graph join job on job.graph_id = graph.id where graph.id = ${first}`,
  );
  const left = () =>
    db.many(
      Digest,
      sql`select digest from definition where digest = any(${ofFirst.map(({ definition }) => definition)}::text[])`,
    );
  await remove();
  expect(await left()).toHaveLength(1);

  const second = await farm.submitJobs(`  a: {commands: "second # ${randomUUID()}"}`);
  await farm.workAll();
  await deleteGraphs(db, [first]);
  await age();
  const { catalogs, definitions } = await remove();

  // The jobs of the graph, and the templates that the branch had.
  expect(catalogs).toBe(2);
  expect(definitions).toBeGreaterThanOrEqual(1);
  expect(await left()).toEqual([]);
  const ofSecond = await db.many(
    Digest,
    sql`select catalog as digest from graph where id = ${second}`,
  );
  expect(ofSecond).toHaveLength(1);
});

test("a submission whose definitions only this server still has in memory stores them again", async () => {
  const jobs = `  a: {commands: "again # ${randomUUID()}"}`;
  farm.repository.write({ ".grange/jobs.yml": `version: 1\njobs:\n${jobs}\n` });
  farm.repository.commit("Change");
  const { id } = await farm.submit();
  await farm.workAll();
  await db.run(sql`delete from branch_catalog`);
  await deleteGraphs(db, [id]);
  await age();
  await remove();

  const again = await farm.submit();

  await farm.workAll();
  const [graph] = await db.many(
    z.object({ state: z.string() }),
    sql`select state from graph where id = ${again.id}`,
  );
  expect(graph?.state).toBe("succeeded");
});

test("a catalog that a submission takes at this moment is not removed", async () => {
  const catalog = newCatalog();
  await db.transaction((tx) => keepCatalog(tx, catalog));
  await age();

  const submission = openTransaction((tx) => keepCatalog(tx, catalog));
  await submission.done;
  await remove();
  submission.end();
  await submission.committed;
  await remove();

  expect(await isStored(catalog)).toBe(true);
  expect(await storedDefinitions(catalog)).toBe(2);
});

test("a submission stores a catalog again that is being removed at this moment", async () => {
  const catalog = newCatalog();
  await db.transaction((tx) => keepCatalog(tx, catalog));
  await age();

  const removal = openTransaction(async (tx) => {
    await tx.run(sql`delete from catalog_entry where catalog = ${catalog.digest}`);
    await tx.run(sql`delete from catalog where digest = ${catalog.digest}`);
  });
  await removal.done;
  const submission = db.transaction((tx) => keepCatalog(tx, catalog));
  await untilBlocked();
  removal.end();
  await Promise.all([removal.committed, submission]);
  await remove();

  expect(await isStored(catalog)).toBe(true);
  expect(await storedDefinitions(catalog)).toBe(2);
});

test("a definition that a new catalog takes at this moment is not removed", async () => {
  const catalog = newCatalog();
  await db.transaction((tx) => keepCatalog(tx, catalog));
  // Its definitions are left alone in the database.
  await db.run(sql`delete from catalog_entry where catalog = ${catalog.digest}`);
  await db.run(sql`delete from catalog where digest = ${catalog.digest}`);

  const submission = openTransaction((tx) => keepCatalog(tx, catalog));
  await submission.done;
  const removing = remove();
  await untilBlocked();
  submission.end();
  await Promise.all([submission.committed, removing]);

  expect(await storedDefinitions(catalog)).toBe(2);
});

test("two servers may remove at once", async () => {
  const catalogs = Array.from({ length: 50 }, () => newCatalog());
  for (const catalog of catalogs) await db.transaction((tx) => keepCatalog(tx, catalog));
  const [used, ...unused] = catalogs as [Catalog, ...Catalog[]];
  await age();
  await db.transaction((tx) => keepCatalog(tx, used));

  await Promise.all([remove(), remove()]);
  await remove();

  expect(await storedDefinitions(used)).toBe(2);
  for (const catalog of unused) {
    expect(await isStored(catalog)).toBe(false);
    // The shared one.
    expect(await storedDefinitions(catalog)).toBe(1);
  }
});
