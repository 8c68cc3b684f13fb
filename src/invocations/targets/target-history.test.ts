import { afterAll, beforeEach, expect, test } from "vitest";
import { sql } from "#db/sql.ts";
import { TestStatus } from "#proto/build_event_stream/build_event_stream_pb.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import {
  completed,
  configured,
  finished,
  lastEvent,
  started,
  summed,
} from "../build-events/build-events.fixture.ts";
import { tellingTo } from "../build-events/telling.fixture.ts";
import { aHit, anInvocation, anOperation } from "../pages/invocation-rows.fixture.ts";
import { listTargets } from "./list-targets.ts";
import { targetHistory } from "./target-history.ts";

const db = await freshDb();
afterAll(() => db.close());
beforeEach(() => db.run(sql`truncate invocation, operation, cache_lookup, build cascade`));
const { teller, tell } = tellingTo(db);
const all = { state: undefined, text: undefined, after: undefined, limit: 100 };

/** Sends a build of one test and another target; returns its invocation. */
async function aBuild(project: string, status: TestStatus): Promise<string> {
  const who = teller(project);
  const label = "//lib:test";
  const passed = status === TestStatus.PASSED;
  await tell(who, [
    started("test", ["//..."]),
    configured(label, "cc_test rule"),
    configured("//lib:other", "cc_library rule"),
    completed(label, true, []),
    completed("//lib:other", true, []),
    summed(label, status),
    finished(passed ? 0 : 3, passed ? "SUCCESS" : "TESTS_FAILED"),
    lastEvent(),
  ]);
  return who.invocation;
}

test("a target is shown in the builds of its project, the newest first", async () => {
  const first = await aBuild("default", TestStatus.PASSED);
  const second = await aBuild("default", TestStatus.FAILED);
  await aBuild("other", TestStatus.PASSED);

  const history = await targetHistory(db, { project: "default", label: "//lib:test", limit: 10 });

  expect(history.map(({ invocation, testStatus }) => [invocation, testStatus])).toEqual([
    [second, "FAILED"],
    [first, "PASSED"],
  ]);
  const [newest] = await targetHistory(db, { project: "default", label: "//lib:test", limit: 1 });
  expect(newest).toMatchObject({
    invocation: second,
    state: "failed",
    success: true,
    durationMs: 130,
  });
});

test("without build events, a target has the states of its actions, also where all were hits", async () => {
  for (const [second, id] of ["flaky", "hit", "failed"].entries())
    await anInvocation(db, id, { second: second * 10 });
  await anOperation(db, "flaky", { target: "//hit", second: 1, outcome: "timed_out" });
  await anOperation(db, "flaky", { target: "//hit", second: 3, outcome: "succeeded" });
  await aHit(db, "hit", { digest: "b/1", second: 11 });
  await anOperation(db, "failed", { target: "//hit", second: 21, outcome: "succeeded" });
  await anOperation(db, "failed", {
    target: "//hit",
    second: 21,
    outcome: "failed",
    hash: "b".repeat(64),
  });

  const history = await targetHistory(db, { project: "default", label: "//hit", limit: 10 });

  expect(history).toMatchObject([
    { invocation: "failed", state: "failed", executed: 2, failed: 1, hits: 0, success: null },
    { invocation: "hit", state: "succeeded", executed: 0, hits: 1, durationMs: null },
    { invocation: "flaky", state: "flaky", executed: 2, failed: 0, durationMs: 3_000 },
  ]);
});

test("targets of a build are listed with their states in earlier builds of the same command", async () => {
  const first = await aBuild("default", TestStatus.FAILED);
  await aBuild("other", TestStatus.FAILED);
  const second = await aBuild("default", TestStatus.FLAKY);
  const third = await aBuild("default", TestStatus.PASSED);
  await anOperation(db, third, { target: "//lib:dependency", outcome: "succeeded" });

  const list = await listTargets(db, { project: "default", id: third }, all);

  expect(list.earlier.map(({ invocation }) => invocation)).toEqual([second, first]);
  expect(list.targets).toMatchObject([
    { label: "//lib:dependency", kind: "", state: "succeeded", earlier: [null, null] },
    { label: "//lib:other", state: "succeeded", earlier: ["succeeded", "succeeded"] },
    { label: "//lib:test", kind: "cc_test rule", state: "succeeded", earlier: ["flaky", "failed"] },
  ]);
  expect(list).toMatchObject({ count: 3, next: null });
});

test("a build without build events lists the targets that its actions name, the worst first", async () => {
  await anInvocation(db, "i");
  await anOperation(db, "i", { target: "//b", outcome: "failed" });
  await anOperation(db, "i", { target: "//c" });
  await anOperation(db, "i", { target: "", outcome: "succeeded" });
  await anOperation(db, "i", { target: "//a", mnemonic: "TestRunner", outcome: "succeeded" });
  await aHit(db, "i", { digest: "c/1" });

  const { targets } = await listTargets(db, { project: "default", id: "i" }, all);

  expect(targets.map(({ label, state, testActions }) => [label, state, testActions])).toEqual([
    ["//b", "failed", 0],
    ["//c", "running", 0],
    ["//a", "succeeded", 1],
    ["//hit", "succeeded", 0],
  ]);
});
