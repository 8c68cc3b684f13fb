import { expect, test } from "vitest";
import { invocationState } from "./invocation-state.ts";

const now = new Date(Date.UTC(2030, 0, 1));
const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
const nothingOpen = { queued: 0, executing: 0 };
const facts = {
  lastSeenAt: ago(0),
  cancelledAt: null,
  leftAt: null,
  counts: nothingOpen,
  exit: undefined,
};

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
    facts: { ...facts, lastSeenAt: ago(9), exit: null },
    state: "silent",
  },
  {
    what: "sent events and went away long ago",
    facts: { ...facts, lastSeenAt: ago(10), exit: null },
    state: "over",
  },
  {
    what: "ended at its first call, and closed its connection",
    facts: { ...facts, lastSeenAt: ago(0.01), leftAt: ago(0.005) },
    state: "over",
  },
  {
    what: "asked again after its connection had closed",
    facts: { ...facts, lastSeenAt: ago(0), leftAt: ago(0.5) },
    state: "running",
  },
  {
    what: "left while an action of it executes",
    facts: { ...facts, leftAt: ago(0), counts: { queued: 0, executing: 1 } },
    state: "running",
  },
  {
    what: "closed all connections without the end of its events",
    facts: { ...facts, lastSeenAt: ago(0.01), leftAt: ago(0), exit: null },
    state: "over",
  },
  {
    what: "sends events again on a new connection",
    facts: { ...facts, lastSeenAt: ago(0), leftAt: ago(0.01), exit: null },
    state: "running",
  },
])("an invocation that $what is $state", ({ facts: known, state }) => {
  expect(invocationState(known, now)).toBe(state);
});
