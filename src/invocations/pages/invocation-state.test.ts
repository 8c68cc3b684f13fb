import { expect, test } from "vitest";
import { invocationState } from "./invocation-state.ts";

const now = new Date(Date.UTC(2030, 0, 1));
const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
const nothingOpen = { queued: 0, executing: 0 };
const facts = { lastSeenAt: ago(0), cancelledAt: null, counts: nothingOpen, exit: undefined };

test.each([
  { what: "asked a moment ago", facts, state: "running" },
  { what: "was quiet for long", facts: { ...facts, lastSeenAt: ago(10) }, state: "over" },
  {
    what: "links for itself, and sends events",
    facts: { ...facts, lastSeenAt: ago(1.5), exit: null },
    state: "running",
  },
  {
    what: "waits for long",
    facts: { ...facts, lastSeenAt: ago(10), counts: { queued: 1, executing: 0 } },
    state: "running",
  },
  {
    what: "said how it went, and left actions behind",
    facts: { ...facts, counts: { queued: 0, executing: 1 }, exit: { code: 0, name: "SUCCESS" } },
    state: "succeeded",
  },
  {
    what: "failed",
    facts: { ...facts, exit: { code: 3, name: "TESTS_FAILED" } },
    state: "failed",
  },
  {
    what: "was interrupted",
    facts: { ...facts, exit: { code: 8, name: "INTERRUPTED" } },
    state: "cancelled",
  },
  {
    what: "was cancelled here, and ended over it",
    facts: { ...facts, cancelledAt: ago(1), exit: { code: 1, name: "BUILD_FAILURE" } },
    state: "cancelled",
  },
  {
    what: "was cancelled here, too late",
    facts: { ...facts, cancelledAt: ago(1), exit: { code: 0, name: "SUCCESS" } },
    state: "succeeded",
  },
  { what: "was cancelled here", facts: { ...facts, cancelledAt: ago(1) }, state: "cancelled" },
  {
    what: "sent events and went away",
    facts: { ...facts, lastSeenAt: ago(10), exit: null },
    state: "silent",
  },
])("an invocation that $what is $state", ({ facts: known, state }) => {
  expect(invocationState(known, now)).toBe(state);
});
