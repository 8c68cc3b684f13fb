import { afterAll, beforeAll, expect, test } from "vitest";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { farmOfReruns } from "./farm-of-reruns.fixture.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfReruns>>;
beforeAll(async () => {
  farm = await farmOfReruns(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

const chain = [
  "  a: {commands: 'run-a # MARK'}",
  "  b: {commands: 'run-b # MARK', needs: [a]}",
  "  c: {commands: 'run-c # MARK', needs: [b]}",
  "  d: {commands: 'run-d # MARK', needs: {c: {on: end}}}",
].join("\n");

test("a job that has not started is set inactive; jobs that need it are skipped, or treat it as ended", async () => {
  const id = await farm.graphOf(chain);

  const done = await farm.deactivate(id, { jobs: ["b"] });
  await farm.work();

  expect(done?.jobs.map(({ job, does }) => [job, does])).toEqual([
    ["b", "is set inactive"],
    ["c", "is skipped"],
  ]);
  expect(await farm.states(id)).toEqual({
    a: "succeeded",
    b: "inactive",
    c: "unreachable",
    d: "succeeded",
  });
  expect((await farm.graph(id)).state).toBe("succeeded");
});

test("a job that has run cannot be set inactive", async () => {
  const id = await farm.graphOf(chain);
  await farm.work();

  const done = await farm.deactivate(id, { jobs: ["a"] });

  expect(done?.jobs).toMatchObject([
    { job: "a", does: "is left alone", why: "it has succeeded already" },
  ]);
});

test("an activated job also activates the jobs that it needs, which are listed before", async () => {
  const id = await farm.graphOf(chain);
  await farm.deactivate(id, { selection: "a | b | c" });
  await farm.work();

  const shown = await farm.activate(id, { jobs: ["c"], dryRun: true });
  await farm.activate(id, { jobs: ["c"], token: shown?.token });
  await farm.work();

  expect(shown?.jobs.map(({ job, does, waitsFor }) => [job, does, waitsFor])).toEqual([
    ["a", "runs because needed", []],
    ["b", "runs because needed", ["a"]],
    ["c", "runs", ["b"]],
  ]);
  expect(await farm.states(id)).toMatchObject({ a: "succeeded", b: "succeeded", c: "succeeded" });
  expect(await farm.causes(id, "a")).toEqual(["activate"]);
  expect((await farm.job(id, "a")).runList[0]?.why).toBe("needed by what anyone activated");
});

test("with the jobs that depend on it, if requested", async () => {
  const id = await farm.graphOf(chain);
  await farm.deactivate(id, { selection: "b | c" });

  const shown = await farm.activate(id, { jobs: ["b"], downstream: true, dryRun: true });

  expect(shown?.jobs.map(({ job, does }) => [job, does])).toEqual([
    ["b", "runs"],
    ["c", "runs because downstream"],
  ]);
});
