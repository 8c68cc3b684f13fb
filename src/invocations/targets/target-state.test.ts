import { expect, test } from "vitest";
import { type TargetStanding, targetState } from "./target-state.ts";

const quiet = { failed: 0, open: 0, cancelled: 0, flaky: 0 };
const byActions = (changes: Partial<TargetStanding>): TargetStanding => ({
  reported: null,
  ...quiet,
  ...changes,
});
const reported = (
  changes: Partial<NonNullable<TargetStanding["reported"]>>,
  actions = quiet,
): TargetStanding => ({
  reported: { success: null, aborted: null, testStatus: null, isBuildOver: false, ...changes },
  ...actions,
});

test.each([
  { what: "whose actions succeeded", standing: byActions({}), state: "succeeded" },
  { what: "with a failed action", standing: byActions({ failed: 1, open: 1 }), state: "failed" },
  { what: "with an open action", standing: byActions({ open: 1, flaky: 1 }), state: "running" },
  { what: "with a repeated action", standing: byActions({ flaky: 1 }), state: "flaky" },
  { what: "with a cancelled action", standing: byActions({ cancelled: 1 }), state: "cancelled" },
  { what: "that is being built", standing: reported({}), state: "running" },
  {
    what: "that the end of the build left out",
    standing: reported({ isBuildOver: true }),
    state: "skipped",
  },
  { what: "that was aborted", standing: reported({ aborted: "SKIPPED" }), state: "skipped" },
  { what: "that was not built", standing: reported({ success: false }), state: "failed" },
  {
    what: "that was built, with a failed test",
    standing: reported({ success: true, testStatus: "TIMEOUT" }),
    state: "failed",
  },
  {
    what: "with a flaky test",
    standing: reported({ success: true, testStatus: "FLAKY" }),
    state: "flaky",
  },
  {
    what: "whose failed action the tool repeated on its own machine",
    standing: reported({ success: true }, { ...quiet, failed: 1 }),
    state: "succeeded",
  },
])("a target $what is $state", ({ standing, state }) => {
  expect(targetState(standing)).toBe(state);
});
