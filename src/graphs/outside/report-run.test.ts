import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { everybody } from "#access/principal.ts";
import { ReportRun } from "#api/report.ts";
import { digestOf } from "#cas/digest-of.ts";
import { digestKey } from "#core/digest.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { farmOfGraphs } from "../farm-of-graphs.fixture.ts";
import type { GraphId } from "../graph-id.ts";
import { jobDetail } from "../job-detail.store.ts";
import { reportRun } from "./report-run.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
beforeAll(async () => {
  farm = await farmOfGraphs(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

/** Submits a graph with a job that runs elsewhere, and a job that uses its outputs. */
async function submit(more = ""): Promise<GraphId> {
  farm.repository.write({
    ".grange/jobs.yml": `version: 1
jobs:
  lab: {outside: true, outputs: report.json, inputs: []${more}}
  after: {commands: "after ${randomUUID()}", inputs: [], needs: [lab]}`,
  });
  farm.repository.commit("Change");
  return (await farm.submit()).id;
}

const report = (graphId: GraphId, said: Partial<ReportRun>, by = everybody) =>
  reportRun(
    { db, blobsOf: () => farm.store },
    graphId,
    "lab",
    ReportRun.parse({ id: randomUUID(), state: "finished", outcome: "succeeded", ...said }),
    by,
  );

test("no worker gets such a job; another machine reports its start and its end", async () => {
  const id = await submit();
  await farm.work();
  const before = await farm.states(id);

  const started = await report(id, { state: "started", reporter: "lab-7" });
  const running = await farm.states(id);
  await report(id, { numbers: { score: 42.5 }, reporter: "lab-7" });

  expect(before).toEqual({ lab: "ready", after: "blocked" });
  expect(started).toEqual({ run: 1, state: "started", known: false });
  expect(running).toEqual({ lab: "running", after: "blocked" });
  expect(await farm.states(id)).toEqual({ lab: "succeeded", after: "ready" });
  const [run] = (await jobDetail(db, id, "lab"))?.runList ?? [];
  expect(run).toMatchObject({
    servedBy: "outside",
    outcome: "succeeded",
    worker: "lab-7",
    numbers: { score: { value: 42.5 } },
  });
});

test("a repeated report changes nothing", async () => {
  const id = await submit();
  const once = { id: "build-17", outcome: "failed" as const };

  const first = await report(id, once);
  const again = await report(id, once);

  expect(first).toEqual({ run: 1, state: "finished", known: false });
  expect(again).toEqual({ run: 1, state: "finished", known: true });
  expect((await jobDetail(db, id, "lab"))?.runList).toHaveLength(1);
});

test("its outputs are passed on, and never put into the action cache", async () => {
  const id = await submit();
  const bytes = Buffer.from(`{"made": "${randomUUID()}"}`);
  const digest = digestOf(bytes);
  const outputs = [{ path: "report.json", digest: digestKey(digest) }];

  await expect(report(id, { outputs })).rejects.toThrow("is not in the project default");
  await farm.store.put(digest, bytes);
  // Finishes the work that other tests have left.
  await farm.work();
  await report(id, { outputs });
  const scripts = await farm.work();

  expect(scripts).toHaveLength(1);
  expect((await jobDetail(db, id, "lab"))?.runList[0]?.outputs).toMatchObject(outputs);
  const cached = await db.many(
    z.object({ result: z.instanceof(Uint8Array) }),
    sql`select result from action_result`,
  );
  expect(cached.some(({ result }) => Buffer.from(result).includes(digest.hash))).toBe(false);
});

test("a failed run is retried within its budget", async () => {
  const id = await submit(", retries: 1");

  await report(id, { outcome: "failed" });
  const after = await farm.states(id);
  await report(id, { outcome: "failed", run: 2 });

  expect(after).toEqual({ lab: "ready", after: "blocked" });
  expect(await farm.states(id)).toEqual({ lab: "failed", after: "unreachable" });
});

test.each([
  { what: "about a run that is over", said: { run: 1 }, says: "its next is run 2" },
  { what: "when no run is requested", said: {}, says: "no run of it is requested now" },
  { what: "without an outcome", said: { outcome: undefined }, says: "must contain the outcome" },
])("a report $what is refused", async ({ said, says }) => {
  const id = await submit();
  await report(id, {});

  await expect(report(id, said)).rejects.toThrow(says);
});

test("a report of an undeclared output, or about a job of the farm, is rejected", async () => {
  const id = await submit();
  const digest = digestOf(Buffer.from("x"));
  await farm.store.put(digest, Buffer.from("x"));
  const outputs = [{ path: "other", digest: digestKey(digest) }];
  const way = [{ path: "report.json/../../x", digest: digestKey(digest) }];

  await expect(report(id, { outputs })).rejects.toThrow("none of the outputs");
  await expect(report(id, { outputs: way })).rejects.toThrow('has the name ".."');
  await expect(
    reportRun(
      { db, blobsOf: () => farm.store },
      id,
      "after",
      ReportRun.parse({ id: "x", state: "started" }),
      everybody,
    ),
  ).rejects.toThrow("run by workers of the farm");
  expect(await farm.states(id)).toEqual({ lab: "ready", after: "blocked" });
});

test("a principal without the grant cannot report", async () => {
  const id = await submit();

  await expect(report(id, {}, { name: "eve", grants: [] })).rejects.toThrow("may not report");
});
