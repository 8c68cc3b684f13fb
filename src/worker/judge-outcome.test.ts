import { expect, test } from "vitest";
import { Outcome } from "#proto/grange/worker/v1/worker_pb.ts";
import { judgeOutcome } from "./judge-outcome.ts";

const mebibyte = 2 ** 20;
const allowed = {
  timeoutMs: 1_000,
  memoryBytes: 100 * mebibyte,
  ownMemoryBytes: undefined,
  processes: 4,
};
const end = {
  exitCode: 0,
  stopped: undefined,
  lack: undefined,
  usage: { peakMemoryBytes: 99 * mebibyte },
} as const;
const starved = { ...end, exitCode: 137, lack: "limit" } as const;

test.each([
  ["exit code 0", end, Outcome.SUCCEEDED],
  ["another exit code", { ...end, exitCode: 1 }, Outcome.FAILED],
  ["a kill for memory", starved, Outcome.OUT_OF_MEMORY],
  ["a kill for memory that its parent tells", { ...starved, exitCode: 2 }, Outcome.OUT_OF_MEMORY],
  // A pipe hides the kill: `hungry | wc -c` counts the bytes until then, and exits with 0.
  [
    "a kill for memory that did not fail the job",
    { ...starved, exitCode: 0 },
    Outcome.OUT_OF_MEMORY,
  ],
  ["one that it waited for in vain", { ...starved, stopped: "timed_out" }, Outcome.OUT_OF_MEMORY],
  ["a timeout, whatever the exit code", { ...end, stopped: "timed_out" }, Outcome.TIMED_OUT],
  ["a cancellation", { ...end, exitCode: 143, stopped: "cancelled" }, Outcome.CANCELLED],
  [
    "a machine that broke its promise",
    { ...starved, lack: "machine" },
    Outcome.INFRASTRUCTURE_ERROR,
  ],
  ["too many processes", { ...starved, lack: "processes" }, Outcome.FAILED],
] as const)("judges %s", (_, judged, outcome) => {
  expect(judgeOutcome(judged, allowed, []).outcome).toBe(outcome);
});

test.each([
  [
    allowed,
    "it ran out of memory: a slot on this worker has 100 MiB, and it had used 99 MiB; request a larger size class, or let it use less",
  ],
  [
    { ...allowed, ownMemoryBytes: 100 * mebibyte },
    "it ran out of memory: it limits itself to 100 MiB, and it had used 99 MiB; raise its limit, or let it use less",
  ],
  [
    { ...allowed, ownMemoryBytes: 1024 * mebibyte },
    "it ran out of memory: a slot on this worker has 100 MiB, of the 1 GiB it allows itself, and it had used 99 MiB; request a larger size class, or let it use less",
  ],
])("says which limit it was, how far it came, and what can be done", (by, message) => {
  expect(judgeOutcome(starved, by, []).message).toBe(message);
});

test("without a limit, the memory of the machine is the limit", () => {
  const { outcome, message } = judgeOutcome(
    { ...starved, lack: "machine" },
    { ...allowed, memoryBytes: undefined },
    [],
  );

  expect(outcome).toBe(Outcome.OUT_OF_MEMORY);
  expect(message).toContain("the machine's memory");
});

test("lists missing outputs, and leaves the consequences to the client", () => {
  expect(judgeOutcome(end, allowed, ["a", "b"])).toEqual({
    outcome: Outcome.SUCCEEDED,
    message: "declared outputs are missing: a, b",
  });
});
