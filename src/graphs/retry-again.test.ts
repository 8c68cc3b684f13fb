import { expect, test } from "vitest";
import { retriesAgain, retriesOn } from "./retry-again.ts";

const noRetry = { crash: { retry: false }, other: {} };
const onlyNetwork = { crash: {}, network: { retry: true } };

test.each([
  { classes: {}, failureClass: null, again: true },
  { classes: noRetry, failureClass: "crash", again: false },
  { classes: noRetry, failureClass: "other", again: true },
  { classes: noRetry, failureClass: null, again: true },
  { classes: onlyNetwork, failureClass: "network", again: true },
  { classes: onlyNetwork, failureClass: "crash", again: false },
  { classes: onlyNetwork, failureClass: null, again: false },
  { classes: onlyNetwork, failureClass: "gone", again: false },
])("of $classes, a failure in $failureClass is tried again: $again", ({ again, ...failure }) => {
  expect(retriesAgain({ ...failure, outcome: "failed", used: 0, budget: 1 })).toBe(again);
});

test.each([
  { outcome: "worker_lost", again: true },
  { outcome: "infrastructure_error", again: true },
  { outcome: "timed_out", again: false },
  { outcome: "cancelled", again: false },
  { outcome: "succeeded", again: false },
] as const)("where only some classes are retried, $outcome is: $again", ({ outcome, again }) => {
  const ended = { outcome, failureClass: null, classes: onlyNetwork };

  expect(retriesAgain({ ...ended, used: 0, budget: 1 })).toBe(again);
  expect(retriesAgain({ ...ended, used: 1, budget: 1 })).toBe(false);
});

test("a run whose inputs the store had lost is retried twice more, outside of the job's budget", () => {
  const ended = { outcome: "failed", failureClass: null, classes: {}, used: 0 } as const;
  const on = (inputLosses: number, lostInputs = true) =>
    retriesOn({ ...ended, budget: 5, lostInputs, inputLosses });

  expect([on(0), on(1), on(2)]).toEqual(["input-losses", "input-losses", undefined]);
  expect(on(2, false)).toBe("retries");
});
