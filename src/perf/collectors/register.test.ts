import { randomUUID } from "node:crypto";
import { afterAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { aCollector, aLabServer, aProcess } from "../jobs/lab-driver.fixture.ts";
import { labTimes } from "../lab-times.ts";
import { aLab, emptyLab } from "../perf.fixture.ts";
import { changeCollector, removeCollector } from "./change-register.ts";
import { collectorViews } from "./collector-views.ts";

const db = await freshDb();
afterAll(() => db.close());
beforeEach(() => emptyLab(db));

const server = aLabServer(db);
const change = (name: string, wanted: Parameters<typeof changeCollector>[2]) =>
  db.transaction((tx) => changeCollector(tx, name, wanted));
const remove = (name: string) => db.transaction((tx) => removeCollector(tx, name));
const views = () => collectorViews(db, server.clock.now(), labTimes);

test("a registered collector is listed before its first heartbeat, and while it is offline", async () => {
  await server.add({ name: "lab-1", target: "linux-x64", set: 0 });
  expect(await views()).toMatchObject([
    { name: "lab-1", state: "never-seen", lastHeartbeatAt: null, environment: null, job: null },
  ]);

  await server.hello("lab-1", randomUUID(), { cpu: "fast" });
  expect(await views()).toMatchObject([
    { state: "waiting", environment: { cpu: "fast" }, fingerprint: expect.any(String) },
  ]);

  server.clock.pass(labTimes.leaseMs);
  expect(await views()).toMatchObject([{ state: "offline" }]);
});

test("a collector is listed with its present job", async () => {
  const lab = await aLab(db);
  const collector = await aCollector(server);
  await collector.claim();

  expect(await views()).toMatchObject([
    {
      state: "measuring",
      job: { id: lab.jobs[0], artifact: lab.child.tag, state: "in-progress", attempts: 1 },
    },
  ]);
});

test("a name can be registered once", async () => {
  await server.add({ name: "lab-1", target: "linux-x64", set: 0 });

  await expect(server.add({ name: "lab-1", target: "linux-arm64", set: 0 })).rejects.toMatchObject({
    code: "already_exists",
    message: expect.stringContaining("there is already a collector lab-1"),
  });
});

test.each([0, null])("set %s of a target has one active collector", async (set) => {
  await server.add({ name: "lab-1", target: "linux-x64", set });
  await server.add({ name: "lab-2", target: "linux-x64", set, active: false });
  await server.add({ name: "lab-3", target: "linux-arm64", set });
  await server.add({ name: "lab-4", target: "linux-x64", set: 7 });

  const refusal = { code: "already_exists", message: expect.stringContaining("served by lab-1") };
  await expect(server.add({ name: "lab-5", target: "linux-x64", set })).rejects.toMatchObject(
    refusal,
  );
  await expect(change("lab-2", { active: true })).rejects.toMatchObject(refusal);
  await expect(change("lab-4", { set })).rejects.toMatchObject(refusal);
  await change("lab-1", { active: false });
  await change("lab-2", { active: true });
});

test("when two collectors request the same set at the same time, one gets it, and the other gets the reason", async () => {
  for (let i = 0; i < 10; i++) {
    await emptyLab(db);
    const added = await Promise.allSettled(
      ["lab-1", "lab-2", "lab-3"].map((name) => server.add({ name, target: "linux-x64", set: 0 })),
    );

    expect(added.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const refused = added.filter((each) => each.status === "rejected");
    expect(refused.map(({ reason }) => reason.code)).toEqual(["already_exists", "already_exists"]);
  }
});

test("a change keeps what it does not name", async () => {
  await server.add({ name: "lab-1", target: "linux-x64", set: 0, mayTakeOver: [1, 2] });

  await change("lab-1", { outOfDuty: "a fan is broken" });
  await change("lab-1", { set: null });

  expect(await views()).toMatchObject([
    { set: null, mayTakeOver: [1, 2], active: true, outOfDuty: "a fan is broken" },
  ]);
  await change("lab-1", { outOfDuty: null });
  expect(await views()).toMatchObject([{ outOfDuty: null }]);
  await expect(change("lab-9", {})).rejects.toMatchObject({ code: "not_found" });
});

test("a collector can be removed if nothing refers to it", async () => {
  await aLab(db);
  const collector = await aCollector(server);
  const refusal = (because: string) => ({
    code: "failed_precondition",
    message: expect.stringMatching(because),
  });
  const job = await collector.claim();
  if (job === null) throw new Error("no job");
  await expect(remove(collector.name)).rejects.toMatchObject(
    refusal("works on job .*: deactivate it"),
  );

  await collector.end(job, { outcome: "handed-back", why: "an update" });
  const spare = await aCollector(server, { set: 4 });
  await remove(spare.name);
  const again = await collector.claim();
  if (again === null) throw new Error("no job");
  await collector.measure(again);
  await collector.end(again);

  await expect(remove(collector.name)).rejects.toMatchObject(refusal("named by results"));
  await db.run(sql`delete from benchmark_job`);
  await expect(remove(collector.name)).rejects.toMatchObject(refusal("named by results"));
  expect((await views()).map(({ name }) => name)).toEqual([collector.name]);
  await expect(remove("lab-9")).rejects.toMatchObject({ code: "not_found" });
});

test("a collector that only returned its jobs leaves nothing behind", async () => {
  await aLab(db);
  const collector = await aCollector(server);
  const job = await collector.claim();
  if (job === null) throw new Error("no job");
  await collector.end(job, { outcome: "handed-back", why: "it goes" });

  await remove(collector.name);

  expect(await views()).toEqual([]);
});

test("equal facts in any order are one environment, and other facts are another one", async () => {
  const Fingerprint = z.object({ fingerprint: z.string() });
  await server.add({ name: "lab-1", target: "linux-x64", set: 0 });
  await server.add({ name: "lab-2", target: "linux-x64", set: 1 });

  const first = await server.hello("lab-1", randomUUID(), { cpu: "fast", kernel: "6" });
  const same = await server.hello("lab-2", randomUUID(), { kernel: "6", cpu: "fast" });
  const other = await server.hello("lab-2", randomUUID(), { kernel: "7", cpu: "fast" });

  expect(same).toEqual(first);
  expect(other).not.toEqual(first);
  expect(
    await db.many(Fingerprint, sql`select fingerprint from benchmark_environment`),
  ).toHaveLength(2);
});

test("facts that cannot be stored are refused", async () => {
  await server.add({ name: "lab-1", target: "linux-x64", set: 0 });

  await expect(server.hello("lab-1", randomUUID(), { cpu: "\0" })).rejects.toMatchObject({
    code: "invalid_argument",
  });
});

test("a silent collector is reported once, until its next heartbeat", async () => {
  const collector = await aCollector(server, { name: "lab-1" });
  const goSilent = async () => {
    server.clock.pass(labTimes.leaseMs);
    return (await server.endSilent()).collectors;
  };

  expect(await goSilent()).toEqual(["lab-1"]);
  expect(await goSilent()).toEqual([]);
  await aProcess(server, collector.name);
  expect(await goSilent()).toEqual(["lab-1"]);
});
