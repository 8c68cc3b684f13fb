import { afterAll, beforeAll, expect, test } from "vitest";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { failing, farmOfReruns } from "./farm-of-reruns.fixture.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfReruns>>;
beforeAll(async () => {
  farm = await farmOfReruns(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

const publishing = [
  "  lint: {commands: 'run-lint # MARK', outputs: [report]}",
  "  build: {commands: 'run-build # MARK'}",
  "  publish: {commands: 'run-publish # MARK', needs: {lint: {outputs: [report]}, build: {}}}",
].join("\n");

const why = { job: "publish", on: "lint", reason: "lint is broken, not we" };

test("a job that was skipped because of another continues without it, and without its missing outputs", async () => {
  const id = await farm.graphOf(publishing);
  await farm.work(failing("run-lint"));
  expect(await farm.states(id)).toMatchObject({ publish: "unreachable" });

  const shown = await farm.waive(id, { ...why, dryRun: true });
  const done = await farm.waive(id, { ...why, token: shown?.token });
  await farm.work();

  expect(shown?.jobs).toMatchObject([{ job: "publish", does: "is revived", cause: "revive" }]);
  expect(done?.applied).toBe(true);
  expect(await farm.states(id)).toEqual({
    lint: "failed",
    build: "succeeded",
    publish: "succeeded",
  });
  const { dependsOn, origin } = await farm.job(id, "publish");
  expect(dependsOn.find(({ on }) => on === "lint")?.waived).toMatchObject({
    by: "anyone",
    reason: why.reason,
  });
  expect(origin.audit).toMatchObject([{ actor: "anyone", verb: "waive", reason: why.reason }]);
});

test("a waiting job does not wait for the other any more, until the waiver is undone", async () => {
  const id = await farm.graphOf(publishing);
  await farm.prepare();

  await farm.waive(id, why);
  const edges = async () => (await farm.job(id, "publish")).dependsOn.map(({ status }) => status);
  expect(await edges()).toEqual(["open", "met"]);
  await farm.waive(id, { ...why, undo: true });
  expect(await edges()).toEqual(["open", "open"]);
  await farm.work(failing("run-lint"));

  expect(await farm.job(id, "publish")).toMatchObject({
    job: { state: "unreachable", reason: "skipped because lint failed" },
    runList: [],
  });
});

test("when a waiver is undone after the other failed, the job is skipped because of it", async () => {
  const id = await farm.graphOf(publishing);
  await farm.waive(id, why);
  await farm.prepare();
  const leased = await farm.claim(10_000);
  const [lint] = leased;
  if (lint === undefined) throw new Error("nothing was handed out");
  await Promise.all(
    leased.map(({ lease }) => farm.queue.finish({ lease, outcome: "failed", exitCode: 1 })),
  );

  await farm.waive(id, { ...why, undo: true });

  expect(await farm.job(id, "publish")).toMatchObject({ job: { state: "unreachable" } });
});

test.each([
  { asked: { ...why, job: "publsh" }, says: 'did you mean "publish"?' },
  { asked: { ...why, on: "test" }, says: 'does not wait for "test": it waits for build, lint' },
  { asked: { ...why, undo: true }, says: "this edge is not waived" },
])("$asked is refused: $says", async ({ asked, says }) => {
  const id = await farm.graphOf(publishing);

  await expect(farm.waive(id, asked)).rejects.toThrow(says);
});

test("a job that has ended needs no waiver", async () => {
  const id = await farm.graphOf(publishing);
  await farm.work(failing("run-lint"));

  await expect(farm.waive(id, { ...why, on: "build" })).rejects.toThrow("nothing to waive");
});

test("a used waiver is undone when the job is over; its next run waits again", async () => {
  const id = await farm.graphOf(publishing);
  await farm.waive(id, why);
  await farm.work(failing("run-lint"));
  expect(await farm.states(id)).toMatchObject({ lint: "failed", publish: "succeeded" });

  await farm.waive(id, { ...why, undo: true });
  expect((await farm.job(id, "publish")).job).toMatchObject({ state: "succeeded", reason: null });
  await farm.again(id, { jobs: ["lint", "publish"] });

  expect(await farm.states(id)).toMatchObject({ lint: "ready", publish: "blocked" });
});

test("a job that succeeded is not shown as skipped when a needed job fails afterwards", async () => {
  const id = await farm.graphOf(
    "  lint: {commands: 'run-lint # MARK'}\n  publish: {commands: 'run-publish # MARK', needs: [lint]}",
  );
  await farm.work();

  await farm.again(id, { jobs: ["lint"], mode: "alone" });
  await farm.work(failing("run-lint"));

  expect((await farm.job(id, "publish")).job).toMatchObject({ state: "succeeded", reason: null });
});

test("a waiver stays when the other job is retriggered", async () => {
  const id = await farm.graphOf(publishing);
  await farm.waive(id, why);
  await farm.work(failing("run-lint"));

  await farm.again(id, { jobs: ["lint", "publish"] });

  expect(await farm.states(id)).toMatchObject({ lint: "ready", publish: "ready" });
});
