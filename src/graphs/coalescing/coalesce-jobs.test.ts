import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { everybody } from "#access/principal.ts";
import { Activate } from "#api/rerun.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { farmOfGraphs } from "../farm-of-graphs.fixture.ts";
import type { GraphId } from "../graph-id.ts";
import { jobSummary, wholeGraph } from "../graph-page.store.ts";
import { jobDetail } from "../job-detail.store.ts";
import { activate } from "../reruns/activate.ts";
import { coalesceJobs } from "./coalesce-jobs.ts";
import { jobCoalescing } from "./job-coalescing.store.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
beforeAll(async () => {
  farm = await farmOfGraphs(db);
});
beforeEach(async () => {
  await farm.work();
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

const later = (ms: number) => new Date(Date.now() + ms);

/** Submits this number of commits, each with a slow job, and a report that needs it. */
async function submitCommits(
  count: number,
  rules = "min-depth: 2",
  queued = true,
): Promise<GraphId[]> {
  const key = randomUUID();
  const ids: GraphId[] = [];
  for (let i = 0; i < count; i++) {
    farm.repository.write({
      ".grange/jobs.yml": `version: 1
jobs:
  slow: {commands: "slow ${key} ${i}", inputs: [], coalesce: {key: "${key}", ${rules}}}
  report: {commands: "report ${key} ${i}", inputs: [], needs: {slow: {on: end}}}`,
    });
    farm.repository.commit(`Change ${i}`);
    ids.push((await farm.submit()).id);
  }
  if (queued) await farm.prepare();
  return ids;
}

function states(ids: readonly GraphId[]): Promise<(string | undefined)[]> {
  return Promise.all(ids.map(async (id) => (await jobSummary(db, id, "slow"))?.state));
}

test.each([{ queued: true }, { queued: false }])(
  "among waiting commits, the newest one's run stands for the older ones (queued: $queued)",
  async ({ queued }) => {
    const ids = await submitCommits(3, undefined, queued);

    const ended = await coalesceJobs(db, farm.queue, new Date());

    expect(ended).toBe(2);
    expect(await states(ids)).toEqual(["coalesced", "coalesced", queued ? "queued" : "ready"]);
    const newest = ids[2] as GraphId;
    const { commit } = (await wholeGraph(db, newest)) ?? {};
    const oldest = await jobSummary(db, ids[0] as GraphId, "slow");
    expect(oldest?.reason).toBe(`coalesced into slow of ${commit?.slice(0, 10)}`);
    const scripts = await farm.work();
    expect(scripts.filter((script) => script.includes("slow"))).toHaveLength(1);
    expect(await wholeGraph(db, ids[0] as GraphId)).toMatchObject({ state: "succeeded" });
  },
);

test.each([
  { what: "too few wait", rules: "min-depth: 3", after: 0 },
  { what: "they have not waited long enough", rules: "min-age: 10m", after: 9 * 60_000 },
])("nothing is coalesced while $what", async ({ rules, after }) => {
  const ids = await submitCommits(3, rules);

  expect(await coalesceJobs(db, farm.queue, later(after))).toBe(0);
  expect(await states(ids)).toEqual(["queued", "queued", "queued"]);
});

test("a customised job is neither coalesced nor used for others", async () => {
  const ids = await submitCommits(3, "min-depth: 1");
  await db.run(sql`
    update job set patch = '{"retries": 1}', template_definition = definition
    where graph_id = ${ids[2] as GraphId} and name = 'slow'
  `);

  expect(await coalesceJobs(db, farm.queue, new Date())).toBe(1);
  expect(await states(ids)).toEqual(["coalesced", "queued", "queued"]);
});

test("commits without a branch are not coalesced", async () => {
  const ids = await submitCommits(3, "min-depth: 1");
  await db.run(sql`update graph set branch = '' where id = any(${ids}::uuid[])`);

  expect(await coalesceJobs(db, farm.queue, new Date())).toBe(0);
});

test("a run that a worker has taken continues to its end", async () => {
  const ids = await submitCommits(3, "min-depth: 1");
  const leased = await farm.claim(10_000);

  const ended = await coalesceJobs(db, farm.queue, new Date());

  expect(leased).toHaveLength(3);
  expect(ended).toBe(0);
  expect(await states(ids)).toEqual(["queued", "queued", "queued"]);
  for (const { lease } of leased)
    await farm.queue.finish({ lease, outcome: "succeeded", exitCode: 0 });
});

test("a coalesced job runs when it is activated, and is not coalesced again", async () => {
  const ids = await submitCommits(3);
  await coalesceJobs(db, farm.queue, new Date());
  const services = { db, pricePerWorkerMinute: 0 };
  const oldest = ids[0] as GraphId;

  await activate(services, oldest, Activate.parse({ jobs: ["slow"] }), everybody);
  const ended = await coalesceJobs(db, farm.queue, later(60_000));
  await farm.work();

  expect(ended).toBe(0);
  expect(await states(ids)).toEqual(["succeeded", "coalesced", "succeeded"]);
  // Its first run ended as cancelled when it was coalesced into the newer one.
  expect((await jobDetail(db, oldest, "slow"))?.runList.map(({ cause }) => cause)).toEqual([
    "activate",
    "first",
  ]);
});

test("when the run that is used for others fails, the range to bisect is shown", async () => {
  const good = await submitCommits(1);
  await farm.work();
  const commit = (await wholeGraph(db, good[0] as GraphId))?.commit;
  const ids = await submitCommits(4);
  await coalesceJobs(db, farm.queue, new Date());
  await farm.work((script) => ({ exitCode: script.includes("slow") ? 1 : 0 }));
  const newest = ids[3] as GraphId;

  const of = await jobCoalescing(db, newest, "slow");
  const ofOlder = await jobCoalescing(db, ids[1] as GraphId, "slow");

  expect(of?.answersFor.map(({ graphId }) => graphId)).toEqual([ids[2], ids[1], ids[0]]);
  expect(of?.into).toBeNull();
  const bad = (await wholeGraph(db, newest))?.commit;
  expect(of?.bisect).toMatchObject({ selection: 'name:"slow"', good: commit, bad });
  expect(ofOlder).toMatchObject({
    into: { graphId: newest, outcome: "failed" },
    answersFor: [],
    bisect: null,
  });
});

test("the run that is used may itself be coalesced; the last one is named", async () => {
  const ids = await submitCommits(2, "min-depth: 1");
  await coalesceJobs(db, farm.queue, new Date());
  const key = (await jobDetail(db, ids[0] as GraphId, "slow"))?.definition as {
    readonly coalesce: { readonly key: string };
  };
  farm.repository.write({
    ".grange/jobs.yml": `version: 1\njobs:\n  slow: {commands: "slow ${key.coalesce.key} last", coalesce: {key: "${key.coalesce.key}"}}`,
  });
  farm.repository.commit("Last");
  const last = (await farm.submit()).id;

  await coalesceJobs(db, farm.queue, new Date());

  const of = await jobCoalescing(db, ids[0] as GraphId, "slow");
  expect(of?.into?.graphId).toBe(last);
  expect((await jobCoalescing(db, last, "slow"))?.answersFor).toHaveLength(2);
});
