import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { everybody } from "#access/principal.ts";
import { examiningDb } from "../../test/support/examined-rows.ts";
import { freshDatabase } from "../../test/support/fresh-db.ts";
import { cancelGraph } from "./cancel-graph.ts";
import type { GraphId } from "./graph-id.ts";
import { graphChangesSince, wholeGraph } from "./graph-page.store.ts";
import { prepareReadyJobs } from "./graph-runner.ts";
import { farmOfReruns } from "./reruns/farm-of-reruns.fixture.ts";
import { setGraphPriority } from "./set-graph-priority.ts";

/**
 * The number of jobs: large enough that a scan over all pairs of jobs is visible, and small enough that the farm does
 * not refresh the statistics.
 */
const jobs = 900;
/** The limit for rows per job: plans have a dozen nodes, and a step of a job reads its edges and runs. */
const limit = 120 * jobs;

const { db, take } = examiningDb(await freshDatabase());
const farm = await farmOfReruns(db);
let id: GraphId;

function dearest(): string {
  const [first] = take();
  return first !== undefined && first.rows > limit ? `${first.rows} rows: ${first.text}` : "";
}

function tests(count: number, commands: string): string {
  const lines = Array.from(
    { length: count },
    (_, i) => `  t${i}: {needs: [build], inputs: [], commands: "${commands} ${i}"}`,
  );
  return [`  build: {inputs: [], commands: "make MARK"}`, ...lines].join("\n");
}

beforeAll(async () => {
  await farm.graphOf(tests(1, "echo"));
  await farm.work();
  await db.script("analyze");
  take();
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

test("a graph is stored", async () => {
  id = await farm.graphOf(tests(jobs, `echo ${randomUUID()}`));
  expect(dearest()).toBe("");
});

test("it is read whole while it waits", async () => {
  const graph = await wholeGraph(db, id);
  expect(graph?.jobList).toHaveLength(jobs + 1);
  expect(dearest()).toBe("");
});

test("its changes are read", async () => {
  const delta = await graphChangesSince(db, id, -1);
  expect(delta?.jobs).toHaveLength(jobs + 1);
  expect(dearest()).toBe("");
});

test("its first job ends, and the others begin", async () => {
  await farm.prepare();
  const [leased] = await farm.claim(0);
  if (leased === undefined) throw new Error("nothing was handed out");
  await farm.queue.started(leased.lease, new Date());
  await farm.queue.finish({ lease: leased.lease, outcome: "succeeded", exitCode: 0 });
  await prepareReadyJobs(farm.parts);
  await farm.claim(0);
  expect(dearest()).toBe("");
});

test("its priority is set", async () => {
  await setGraphPriority(farm.queue, id, { priority: 7 }, everybody);
  expect(dearest()).toBe("");
});

test("it is retriggered, first as a preview", async () => {
  await farm.again(id, { selection: "*", dryRun: true });
  await farm.again(id, { selection: "*" });
  expect(dearest()).toBe("");
});

test("it is read whole while it runs", async () => {
  await wholeGraph(db, id);
  expect(dearest()).toBe("");
});

test("it is cancelled", async () => {
  await cancelGraph(db, farm.queue, everybody, id);
  expect(dearest()).toBe("");
});

test("it is cloned", async () => {
  await farm.clone(id);
  expect(dearest()).toBe("");
});
