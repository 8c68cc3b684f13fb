import { expect, test } from "vitest";
import { Outcome } from "#proto/grange/worker/v1/worker_pb.ts";
import { judgeOutcome } from "./judge-outcome.ts";

const allowed = { timeoutMs: 1_000, memoryBytes: 1_024 };
const end = { exitCode: 0, stopped: undefined, outOfMemory: false } as const;

test.each([
  ["exit code 0", end, Outcome.SUCCEEDED],
  ["another exit code", { ...end, exitCode: 1 }, Outcome.FAILED],
  ["a kill for memory", { ...end, exitCode: 137, outOfMemory: true }, Outcome.OUT_OF_MEMORY],
  ["a kill for memory that the job got over", { ...end, outOfMemory: true }, Outcome.SUCCEEDED],
  ["a timeout, whatever the exit code", { ...end, stopped: "timed_out" }, Outcome.TIMED_OUT],
  ["a cancellation", { ...end, exitCode: 143, stopped: "cancelled" }, Outcome.CANCELLED],
] as const)("judges %s", (_, judged, outcome) => {
  expect(judgeOutcome(judged, allowed, []).outcome).toBe(outcome);
});

test("names the outputs that are missing, and leaves the rest to whoever asked for them", () => {
  expect(judgeOutcome(end, allowed, ["a", "b"])).toEqual({
    outcome: Outcome.SUCCEEDED,
    message: "declared outputs are missing: a, b",
  });
});
