import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { jobDetail } from "../job-detail.store.ts";
import { farmOfKinds } from "./farm-of-kinds.fixture.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfKinds>>;
beforeAll(async () => {
  farm = await farmOfKinds(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

describe("a dummy", () => {
  test("without a duration ends at once, and so do dependent jobs", async () => {
    const id = await farm.submitJobs("  a: {kind: dummy}\n  b: {kind: dummy, needs: [a]}");

    expect(await farm.states(id)).toEqual({ a: "succeeded", b: "succeeded" });
  });

  test("runs for its configured duration", async () => {
    const id = await farm.submitJobs("  a: {kind: dummy, dummy: {after: 1h}}");
    expect(await farm.states(id)).toEqual({ a: "running" });

    expect(await farm.untilNextDue()).toBe(3_600_000);

    expect(await farm.states(id)).toEqual({ a: "succeeded" });
  });

  test("ends each run as configured, within its retries", async () => {
    const id = await farm.submitJobs(
      "  a: {kind: dummy, retries: 1, dummy: {outcomes: [failed, succeeded]}}\n" +
        "  b: {kind: dummy, retries: 1, dummy: {outcome: timed_out, after: 1h}}",
    );
    await farm.untilNextDue();
    await farm.untilNextDue();

    expect(await farm.states(id)).toEqual({ a: "succeeded", b: "failed" });
    const a = (await farm.runs(id, "a")).map(({ cause, outcome }) => [cause, outcome]);
    expect(a).toEqual([
      ["auto-retry", "succeeded"],
      ["first", "failed"],
    ]);
    expect((await farm.runs(id, "b")).map((run) => run.outcome)).toEqual([
      "timed_out",
      "timed_out",
    ]);
  });

  test("has an exit code and a failure class, and edges can wait for the class", async () => {
    const id = await farm.submitJobs(
      "  a: {kind: dummy, dummy: {outcome: failed, exit-code: 7, failure-class: crash}}\n" +
        "  b: {kind: dummy, needs: {a: {on: failure}}}",
    );

    expect(await farm.states(id)).toEqual({ a: "failed", b: "succeeded" });
    expect((await farm.runs(id, "a"))[0]).toMatchObject({ exitCode: 7, outcome: "failed" });
  });

  test("makes its outputs, which other jobs use", async () => {
    const id = await farm.submitJobs(
      "  a: {kind: dummy, outputs: [dist/app]}\n" +
        "  b: {commands: cat dist/app, inputs: [], needs: {a: {outputs: dist/app}}}",
    );

    const scripts = await farm.work();

    expect(scripts).toHaveLength(1);
    expect(await farm.states(id)).toEqual({ a: "succeeded", b: "succeeded" });
    expect((await farm.runs(id, "a"))[0]?.outputs).toMatchObject([{ path: "dist/app" }]);
  });
});

describe("a timer", () => {
  test("waits for its time, and dependent jobs wait with it", async () => {
    const id = await farm.submitJobs(
      "  t: {kind: timer, after: 10m}\n  a: {kind: dummy, needs: [t]}",
    );
    expect(await farm.states(id)).toEqual({ a: "blocked", t: "waiting" });

    expect(await farm.untilNextDue()).toBe(600_000);

    expect(await farm.states(id)).toEqual({ a: "succeeded", t: "succeeded" });
  });

  test("with a time of day is due at the next such time", async () => {
    const id = await farm.submitJobs('  t: {kind: timer, at: "19:00", timezone: Asia/Tokyo}');

    const [run] = await farm.runs(id, "t");

    // Tokyo is nine hours ahead, all year.
    expect(run?.dueAt).toMatch(/T10:00:00\.000Z$/);
    await farm.untilNextDue();
    expect(await farm.states(id)).toEqual({ t: "succeeded" });
  });
});

describe("a breakpoint", () => {
  test("waits until a person releases it", async () => {
    const id = await farm.submitJobs("  b: {kind: breakpoint}\n  a: {kind: dummy, needs: [b]}");

    expect(await farm.untilNextDue()).toBe(Number.POSITIVE_INFINITY);

    expect(await farm.states(id)).toEqual({ a: "blocked", b: "waiting" });
  });

  test.each([
    { onExpiry: "fail", b: "failed", a: "unreachable" },
    { onExpiry: "skip-good", b: "expired", a: "succeeded" },
    { onExpiry: "skip-bad", b: "expired", a: "unreachable" },
  ])("whose patience is over ends as $onExpiry says", async ({ onExpiry, a, b }) => {
    const id = await farm.submitJobs(
      `  b: {kind: breakpoint, patience: 2h, on-expiry: ${onExpiry}}\n  a: {kind: dummy, needs: [b]}`,
    );

    expect(await farm.untilNextDue()).toBe(2 * 3_600_000);

    expect(await farm.states(id)).toEqual({ a, b });
    const detail = await jobDetail(db, id, "b");
    expect(detail?.runList[0]?.message).toBe("it was not released within 2h");
  });
});
