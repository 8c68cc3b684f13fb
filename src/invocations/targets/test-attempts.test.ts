import { expect, test } from "vitest";
import type { InvocationAction } from "#api/invocation.ts";
import { type TestAction, testAttempts } from "./test-attempts.ts";

const action: InvocationAction = {
  actionDigest: "aa/1",
  target: "//lib:test",
  mnemonic: "TestRunner",
  configuration: "k8",
  state: "succeeded",
  executionId: null,
  joined: false,
  requestedAt: "2030-01-01T00:00:00.000Z",
  startedAt: "2030-01-01T00:00:01.000Z",
  finishedAt: "2030-01-01T00:00:03.500Z",
  worker: "w",
  outcome: "succeeded",
  exitCode: 0,
};

function ran(
  environment: Readonly<Record<string, string>>,
  changes: Partial<InvocationAction> = {},
  program = "external/bazel_tools/tools/test/test-setup.sh",
): TestAction {
  return {
    action: { ...action, ...changes },
    command: { arguments: [program, "lib/test"], environment },
  };
}

const sharded = (shard: number, run?: number) => ({
  TEST_SHARD_INDEX: String(shard),
  TEST_TOTAL_SHARDS: "2",
  ...(run === undefined ? {} : { TEST_RUN_NUMBER: String(run) }),
});

test("shards and runs come from variables, attempts from the order of the requests", () => {
  const attempts = testAttempts([
    ran(sharded(1)),
    ran(sharded(0), { state: "failed" }),
    ran(sharded(0)),
    ran(sharded(0, 2)),
  ]);

  expect(
    attempts.map(({ run, shard, shards, attempt, state }) => [run, shard, shards, attempt, state]),
  ).toEqual([
    [1, 1, 2, 1, "failed"],
    [1, 1, 2, 2, "succeeded"],
    [1, 2, 2, 1, "succeeded"],
    [2, 1, 2, 1, "succeeded"],
  ]);
  expect(attempts[0]?.durationMs).toBe(2_500);
});

test("the action that makes test.xml is no attempt", () => {
  const report = ran({}, {}, "external/bazel_tools/tools/test/generate-xml.sh");

  expect(testAttempts([ran({}), report])).toMatchObject([{ run: 1, shard: 1, attempt: 1 }]);
});

test("each configuration has its own attempts", () => {
  const attempts = testAttempts([ran({}, { configuration: "b" }), ran({}, { configuration: "a" })]);

  expect(attempts.map(({ configuration, attempt }) => [configuration, attempt])).toEqual([
    ["a", 1],
    ["b", 1],
  ]);
});

test.each([
  { variables: { TEST_SHARD_INDEX: "-1", TEST_TOTAL_SHARDS: "x" } },
  { variables: { TEST_SHARD_INDEX: "9".repeat(400), TEST_RUN_NUMBER: "1e9" } },
  { variables: { TEST_SHARD_INDEX: "", TEST_TOTAL_SHARDS: "0", TEST_RUN_NUMBER: "0" } },
])("variables that are no numbers count as not set: $variables", ({ variables }) => {
  expect(testAttempts([ran(variables)])).toMatchObject([{ run: 1, shard: 1, shards: 1 }]);
});
