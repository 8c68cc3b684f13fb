import { randomUUID } from "node:crypto";
import { afterAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { recordAudit } from "#access/audit.store.ts";
import type { Clock } from "#core/clock.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import type { GraphId } from "../graph-id.ts";
import { farmOfKinds } from "../kinds/farm-of-kinds.fixture.ts";
import { storeMadeUpGraph } from "../times/times.fixture.ts";
import { deleteGraphs } from "./old-graphs.store.ts";
import {
  type RetentionRound,
  type RetentionServices,
  removeOldGraphs,
} from "./remove-old-graphs.ts";
import { holdGraph, releaseGraph, setRetentionRule } from "./retention-rule.store.ts";

const db = await freshDb();
const farm = await farmOfKinds(db);
afterAll(async () => {
  await farm.stop();
  await db.close();
});

const dayMs = 24 * 60 * 60_000;
const inAYear: Clock = { now: () => new Date(Date.now() + 365 * dayMs) };
const neededElsewhere: string[] = [];
const services: RetentionServices = {
  db,
  clock: inAYear,
  neededElsewhere: async (_tx, ids) => ids.filter((id) => neededElsewhere.includes(id)),
  forgetElsewhere: async () => {},
};
const one = [{ job: "a", waitMs: 0, runMs: 1 }];

beforeEach(async () => {
  await setRetentionRule(
    db,
    { repository: "*", branch: "*", keepMs: 30 * dayMs, keepNewest: 0, most: null, setBy: "me" },
    new Date(),
  );
});

async function stillThere(): Promise<Set<string>> {
  const rows = await db.many(z.object({ id: z.string() }), sql`select id::text from graph`);
  return new Set(rows.map(({ id }) => id));
}

/** Returns rows of any table that name a missing graph. */
async function orphans(): Promise<string[]> {
  const rows = await db.many(
    z.object({ orphan: z.string() }),
    sql`
      select 'job of ' || graph_id as orphan from job where graph_id not in (select id from graph)
      union all select 'edge of ' || graph_id from edge where graph_id not in (select id from graph)
      union all select 'run of ' || graph_id from run where graph_id not in (select id from graph)
      union all select 'hit of ' || cached_from_graph from run where cached_from_graph not in (select id from graph)
      union all select 'coalesced into ' || coalesced_graph from job where coalesced_graph not in (select id from graph)
    `,
  );
  return rows.map(({ orphan }) => orphan);
}

test("a graph is deleted with its subgraph, its audit entries stay, and a running graph stays", async () => {
  const over = await farm.submitJobs(
    `  g: {kind: graph, definitions: {version: 1, jobs: {inner: {commands: "inner # ${randomUUID()}"}}}}`,
  );
  await farm.workAll(() => ({}));
  const running = await farm.submitJobs(`  a: {commands: "never # ${randomUUID()}"}`);
  await recordAudit(db, { actor: "ada", verb: "cancel", graphId: over });
  expect((await stillThere()).size).toBe(3);

  const { removed } = await removeOldGraphs(services);

  expect(removed).toBe(2);
  expect(await stillThere()).toEqual(new Set([running]));
  expect(await orphans()).toEqual([]);
  const entries = await db.many(
    z.object({ actor: z.string() }),
    sql`select actor from audit_entry where graph_id = ${over} and actor = 'ada'`,
  );
  expect(entries).toHaveLength(1);
});

test("a label keeps a graph as long as the graph has it", async () => {
  const held = await storeMadeUpGraph(db, new Date(), one);
  await holdGraph(db, held, { label: "case-17", why: null, by: "ada" }, new Date());

  await removeOldGraphs(services);
  expect((await stillThere()).has(held)).toBe(true);

  await releaseGraph(db, held, "case-17");
  await removeOldGraphs(services);
  expect((await stillThere()).has(held)).toBe(false);
});

test("a graph that another module needs stays until that module has finished", async () => {
  const searched = await storeMadeUpGraph(db, new Date(), one);
  neededElsewhere.push(searched);

  await removeOldGraphs(services);
  expect((await stillThere()).has(searched)).toBe(true);

  neededElsewhere.pop();
  await removeOldGraphs(services);
  expect((await stillThere()).has(searched)).toBe(false);
});

test("a graph that another server deletes while its family is read does not keep the round from its end", async () => {
  const old = await storeMadeUpGraph(db, new Date(), one);
  const recent = await storeMadeUpGraph(db, inAYear.now(), one);
  await db.run(
    sql`update graph set parent_id = ${old}, parent_kind = 'clone' where id = ${recent}`,
  );
  const deletedByTheOther: RetentionServices = {
    ...services,
    neededElsewhere: async (_tx, ids) => {
      if (ids.includes(old)) await deleteGraphs(db, [recent]);
      return [];
    },
  };

  await removeOldGraphs(deletedByTheOther);

  // This round knew of a reference to it.
  expect((await stillThere()).has(old)).toBe(true);
  await removeOldGraphs(services);
  expect((await stillThere()).has(old)).toBe(false);
});

test("the newest of each branch stay, and those above the limit are deleted at any age", async () => {
  await setRetentionRule(
    db,
    {
      repository: "counted",
      branch: "*",
      keepMs: 30 * dayMs,
      keepNewest: 2,
      most: null,
      setBy: "me",
    },
    new Date(),
  );
  await setRetentionRule(
    db,
    { repository: "counted", branch: "few", keepMs: null, keepNewest: 0, most: 1, setBy: "me" },
    new Date(),
  );
  const made = async (branch: string) => {
    const ids: string[] = [];
    for (let n = 0; n < 4; n++)
      ids.push(await storeMadeUpGraph(db, new Date(), one, { repository: "counted", branch }));
    return ids;
  };
  const [topic, few] = [await made("topic"), await made("few")];

  await removeOldGraphs(services);

  const left = await stillThere();
  expect(topic.map((id) => left.has(id))).toEqual([false, false, true, true]);
  expect(few.map((id) => left.has(id))).toEqual([false, false, false, true]);
});

test("two servers at once delete everything that may be deleted, and nothing that a remaining graph refers to", async () => {
  // Random references, from a generator that gives the same each time.
  let state = 7;
  const random = (below: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  const graphs: GraphId[] = [];
  for (let n = 0; n < 250; n++) {
    graphs.push(
      await storeMadeUpGraph(db, new Date(Date.now() + n), one, { repository: "linked" }),
    );
  }
  const pick = (below: number) => graphs[random(below)];
  const needs = new Map<string, string[]>();
  for (const [index, id] of graphs.entries()) {
    if (index === 0 || random(2) === 0) continue;
    const earlier = pick(index);
    if (earlier === undefined) continue;
    needs.set(id, [...(needs.get(id) ?? []), earlier]);
    const how = random(4);
    if (how === 0)
      await db.run(
        sql`update graph set parent_id = ${earlier}, parent_kind = 'clone' where id = ${id}`,
      );
    else if (how === 1) await db.run(sql`update graph set set_id = ${earlier} where id = ${id}`);
    else if (how === 2)
      await db.run(
        sql`update run set cached = true, execution_id = null, cached_from_graph = ${earlier} where graph_id = ${id}`,
      );
    else
      await db.run(sql`
        update job set set_aside = 'coalesced', coalesced_graph = ${earlier}, coalesced_job = 'a' where graph_id = ${id}
      `);
  }
  const staying = new Set<string>();
  for (let n = 0; n < 40; n++) {
    const held = pick(graphs.length);
    if (held === undefined) continue;
    await holdGraph(db, held, { label: "kept", why: null, by: "me" }, new Date());
    staying.add(held);
  }
  for (let before = -1; before !== staying.size; ) {
    before = staying.size;
    for (const id of staying) for (const other of needs.get(id) ?? []) staying.add(other);
  }

  // Each one skips graphs that the other has locked; the next round deletes the rest.
  await Promise.all([removeOldGraphs(services), removeOldGraphs(services)]);
  // Rounds without a time limit read one page each, and continue where the last one ended.
  for (let after: RetentionRound["after"]; ; ) {
    ({ after } = await removeOldGraphs(services, { after, mostMs: 0 }));
    if (after === undefined) break;
  }

  const left = await stillThere();
  expect(new Set(graphs.filter((id) => left.has(id)))).toEqual(staying);
  expect(await orphans()).toEqual([]);
});
