import { afterAll, expect, test } from "vitest";
import { TestStatus } from "#proto/build_event_stream/build_event_stream_pb.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import {
  completed,
  configured,
  finished,
  lastEvent,
  started,
  summed,
} from "./build-events.fixture.ts";
import { targetHistory } from "./read-builds.store.ts";
import { tellingTo } from "./telling.fixture.ts";

const db = await freshDb();
afterAll(() => db.close());
const { teller, tell } = tellingTo(db);

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
  expect(newest).toMatchObject({ invocation: second, success: true, durationMs: 130 });
});
