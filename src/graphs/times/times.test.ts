import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { everybody } from "#access/principal.ts";
import { matches } from "#api/selection/matches.ts";
import { parseSelection } from "#api/selection/parse-selection.ts";
import type { MetricDefinition } from "#api/times.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { expectedDurations } from "./expected-durations.store.ts";
import { rollUpGraphs } from "./graph-times.store.ts";
import { metricDefinitions } from "./metric.store.ts";
import { metricValue } from "./metric-value.store.ts";
import { rollUpRuns } from "./run-history.store.ts";
import { selectedJobs } from "./selected-jobs.store.ts";
import { setMetric } from "./set-metric.ts";
import { timeHistograms } from "./time-histogram.store.ts";
import { storeMadeUpGraph } from "./times.fixture.ts";
import { timesOfGraphs, timesOfRuns } from "./times.store.ts";

const db = await freshDb();
afterAll(() => db.close());

const minuteMs = 60_000;
const now = new Date("2026-05-01T12:00:00Z");
const ago = (ms: number) => new Date(now.getTime() - ms);
const lastHours = { from: ago(10 * 60 * minuteMs), until: now };

async function rollUp(at = now): Promise<void> {
  while (await rollUpRuns(db, at));
  while (await rollUpGraphs(db, at));
}

test("blocked time is not waiting time", async () => {
  const repository = "blocked";
  await storeMadeUpGraph(
    db,
    ago(5 * 60 * minuteMs),
    [
      { job: "a", waitMs: 2 * minuteMs, runMs: minuteMs },
      { job: "b", blockedMs: 3 * 60 * minuteMs, waitMs: 4 * minuteMs, runMs: minuteMs },
    ],
    { repository },
  );

  const { all } = await timesOfRuns(db, { ...lastHours, repository }, "branch", 900);

  expect(all.wait).toMatchObject({ count: 2, p50Ms: 3 * minuteMs, maxMs: 4 * minuteMs });
  expect(all.withinGoal).toBe(1);
});

test("waits count from readiness, also without a start; a pool without workers has a row", async () => {
  const repository = "starved";
  const nowhere = { pool: "nowhere" };
  await storeMadeUpGraph(
    db,
    ago(60 * minuteMs),
    [
      { job: "a", waitMs: minuteMs, runMs: minuteMs },
      {
        job: "expired",
        blockedMs: 10 * minuteMs,
        waitMs: 20 * minuteMs,
        runMs: 0,
        never: "given-up",
        platform: nowhere,
      },
      {
        job: "starving",
        blockedMs: 20 * minuteMs,
        waitMs: 0,
        runMs: 0,
        never: "waiting",
        platform: nowhere,
      },
      {
        job: "just-ready",
        blockedMs: 59 * minuteMs,
        waitMs: 0,
        runMs: 0,
        never: "waiting",
        platform: nowhere,
      },
    ],
    { repository },
  );
  const of = { ...lastHours, repository };

  const { all, groups } = await timesOfRuns(db, of, "pool", 900);

  const starved = groups.find(({ name }) => name === "pool=nowhere");
  expect(starved?.wait).toMatchObject({ count: 3, p50Ms: 20 * minuteMs, maxMs: 40 * minuteMs });
  expect(starved?.run.count).toBe(0);
  expect(starved?.withinGoal).toBe(0);
  // A run that has waited for a minute is not decided yet.
  expect(all.withinGoal).toBeCloseTo(1 / 3);
  const share: MetricDefinition = {
    name: "starved",
    measure: "wait",
    figure: { kind: "share", withinSeconds: 900, goal: 0.95 },
    group: null,
    filter: "name:starving | name:just-ready",
    windowSeconds: 36_000,
    ofRecord: false,
  };
  expect(await metricValue(db, share, now)).toMatchObject({ value: 0, goalMet: false });
});

test("times can be grouped by branch, pool and kind, and are limited to their window", async () => {
  const repository = "groups";
  const runs = [
    { job: "a", waitMs: 1_000, runMs: 10_000, platform: { OSFamily: "linux", gpu: "yes" } },
    { job: "b", waitMs: 16 * minuteMs, runMs: 20_000, tags: { kind: "talos" } },
  ];
  await storeMadeUpGraph(db, ago(60 * minuteMs), runs, { repository });
  await storeMadeUpGraph(db, ago(60 * minuteMs), runs.slice(0, 1), { repository, branch: "esr" });
  await storeMadeUpGraph(db, ago(60 * 60 * minuteMs), runs, { repository, branch: "old" });
  const of = { ...lastHours, repository };
  const seen = (each: { readonly name: string; readonly wait: { readonly count: number } }) =>
    `${each.name}: ${each.wait.count}`;

  const byBranch = await timesOfRuns(db, of, "branch", 900);
  const byPool = await timesOfRuns(db, of, "pool", 900);
  const byKind = await timesOfRuns(db, of, "kind", 900);

  expect(byBranch.groups.map(seen)).toEqual(["main: 2", "esr: 1"]);
  expect(byPool.groups.map(seen)).toEqual(["OSFamily=linux, gpu=yes: 2", "any worker: 1"]);
  expect(byKind.groups.map(seen)).toEqual(["command: 2", "talos: 1"]);
  expect(byKind.all.withinGoal).toBeCloseTo(2 / 3);
});

test("a graph has its own times: to its end, to its first failure, along its critical path", async () => {
  const repository = "graphs";
  const id = await storeMadeUpGraph(
    db,
    ago(120 * minuteMs),
    [
      { job: "a", waitMs: minuteMs, runMs: 2 * minuteMs, outcome: "failed" },
      { job: "b", blockedMs: 3 * minuteMs, waitMs: 3 * minuteMs, runMs: 4 * minuteMs },
    ],
    { repository },
  );
  await db.run(
    sql`insert into edge (graph_id, job, on_job, condition, status) values (${id}, 'b', 'a', 'end', 'met')`,
  );
  await rollUp();

  const { all, groups } = await timesOfGraphs(db, { ...lastHours, repository }, "branch");

  expect(all.endToEnd).toMatchObject({ count: 1, p50Ms: 10 * minuteMs });
  expect(all.firstFailure.p50Ms).toBe(3 * minuteMs);
  expect(all.criticalPath.p50Ms).toBe(6 * minuteMs);
  expect(groups.map(({ name }) => name)).toEqual(["main"]);
});

test("histograms count every run once, also when two servers count at once", async () => {
  await rollUp();
  const before = await timeHistograms(db);
  await storeMadeUpGraph(db, ago(minuteMs), [
    { job: "a", waitMs: 400, runMs: 2_000 },
    { job: "b", waitMs: 899_000 / 100, runMs: 2_000 },
  ]);

  await Promise.all([rollUpRuns(db, now), rollUpRuns(db, now), rollUpRuns(db, now)]);

  const after = await timeHistograms(db);
  const more = after.wait.counts.map((count, i) => count - (before.wait.counts[i] ?? 0));
  expect(more).toEqual([1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2]);
  expect(after.run.count - before.run.count).toBe(2);
});

test("a run that has just ended is not counted until its transaction has certainly ended", async () => {
  await rollUp();
  const before = (await timeHistograms(db)).run.count;
  await storeMadeUpGraph(db, ago(1_000), [{ job: "a", waitMs: 0, runMs: 500 }]);

  await rollUp();
  const soon = (await timeHistograms(db)).run.count;
  await rollUpRuns(db, new Date(now.getTime() + 20_000));

  expect(soon).toBe(before);
  expect((await timeHistograms(db)).run.count).toBe(before + 1);
});

test("a selection matches the same jobs in the database and in memory", async () => {
  const jobs = [
    { name: "build_linux", tags: { platform: "linux", pgo: "true" } },
    { name: "build%win", tags: { platform: "win32", kind: "talos" } },
    { name: "lint", tags: {} },
    { name: "buildXlinux", tags: { team: "pgo" } },
  ];
  const id = await storeMadeUpGraph(
    db,
    ago(50 * 60 * minuteMs),
    jobs.map(({ name, tags }) => ({ job: name, tags, waitMs: 0, runMs: 1 })),
  );
  const texts = ["pgo", "build_*", "platform:*", "!platform:linux", "kind:talos | lint"];
  texts.push("name:build%win", "kind:command & !pgo", "state:succ*", "platform:win32 & kind:talos");

  for (const text of texts) {
    const selection = parseSelection(text);
    const found = await db.many(
      z.object({ name: z.string() }),
      sql`select name from job where graph_id = ${id} and ${selectedJobs(selection)}`,
    );

    const expected = jobs.filter((job) =>
      matches(selection, { ...job, kind: "command", state: "succeeded" }),
    );
    expect([text, found.map(({ name }) => name).toSorted()]).toEqual([
      text,
      expected.map(({ name }) => name).toSorted(),
    ]);
  }
});

const metric = (more: Partial<MetricDefinition> & { readonly name: string }): MetricDefinition => ({
  measure: "wait",
  figure: { kind: "share", withinSeconds: 900, goal: 0.95 },
  group: null,
  filter: "",
  windowSeconds: 7 * 86_400,
  ofRecord: false,
  ...more,
});

test("a new farm has the promise of 15 minutes as its metric of record", async () => {
  expect((await metricDefinitions(db))[0]).toEqual(metric({ name: "waiting", ofRecord: true }));
});

test("a changed metric also changes its past values", async () => {
  await storeMadeUpGraph(db, ago(40 * 60 * minuteMs), [
    { job: "metric-a", waitMs: 10_000, runMs: 1 },
    { job: "metric-b", waitMs: 30 * minuteMs, runMs: 1 },
  ]);
  const mine = metric({ name: "mine", filter: "name:metric-*", ofRecord: true });
  await setMetric(db, mine, everybody);
  const before = await metricValue(db, mine, now);

  const strict = metric({
    ...mine,
    figure: { kind: "share", withinSeconds: 5, goal: 0.5 },
    group: "branch",
  });
  await setMetric(db, strict, everybody);
  const after = await metricValue(db, strict, now);

  expect(before).toMatchObject({ value: 0.5, count: 2, goalMet: false, groups: [] });
  expect(after).toMatchObject({ value: 0, groups: [{ name: "main", value: 0, count: 2 }] });
  const record = (await metricDefinitions(db)).filter(({ ofRecord }) => ofRecord);
  expect(record.map(({ name }) => name)).toEqual(["mine"]);
});

test.each([
  { more: { measure: "end-to-end" as const, filter: "lint" }, says: "has no selection" },
  { more: { measure: "end-to-end" as const, group: "pool" as const }, says: "grouped by branch" },
  { more: { filter: "state:failed" }, says: "only the current state" },
  { more: { filter: "(" }, says: "something is missing" },
])("a metric that means nothing is refused: $says", async ({ more, says }) => {
  await expect(setMetric(db, metric({ name: "odd", ...more }), everybody)).rejects.toThrow(says);
});

test("only an administrator can set a metric", async () => {
  const nobody = { name: "nobody", grants: [] };

  await expect(setMetric(db, metric({ name: "mine" }), nobody)).rejects.toThrow(
    "may not administer",
  );
});

test("the expected duration is the median of the last twenty successful runs, each counted once", async () => {
  const repository = "history";
  // Later than everything that the other tests have counted.
  const tomorrow = new Date(now.getTime() + 24 * 60 * minuteMs);
  const store = (minutes: number, seconds: number, outcome = "succeeded") =>
    storeMadeUpGraph(
      db,
      new Date(tomorrow.getTime() - minutes * minuteMs),
      [{ job: "a", waitMs: 0, runMs: seconds * 1_000, outcome }],
      { repository },
    );
  for (let i = 0; i < 15; i++) await store(400 - i, 500);
  await rollUp(tomorrow);
  for (let i = 0; i < 25; i++) await store(300 - i, 100 + i);
  await store(200, 9_999, "failed");
  await rollUp(tomorrow);
  await rollUp(tomorrow);

  const expected = await expectedDurations(db, repository, ["a", "unknown"]);

  // Of the 25 later ones, the last 20 ran 105 … 124 s.
  expect([...expected]).toEqual([["a", 114_500]]);
  const [row] = await db.many(
    z.object({ samples: z.number(), failures: z.number() }),
    sql`select samples, failures from job_history where repository = ${repository}`,
  );
  expect(row).toEqual({ samples: 40, failures: 1 });
});

test("the end-to-end time excludes the time in which a graph was over before it continued", async () => {
  const repository = "let-lie";
  // The roll-up continues from the last counted end.
  const later = new Date(now.getTime() + 7 * 24 * 60 * minuteMs);
  const id = await storeMadeUpGraph(
    db,
    new Date(later.getTime() - 180 * minuteMs),
    [{ job: "a", waitMs: minuteMs, runMs: 119 * minuteMs }],
    { repository },
  );
  await db.run(sql`update graph set idle_ms = ${110 * minuteMs} where id = ${id}`);
  await rollUp(later);

  const of = { from: now, until: later, repository };
  const { all } = await timesOfGraphs(db, of, "branch");

  expect(all.endToEnd.p50Ms).toBe(10 * minuteMs);
});
