import { expect, test } from "vitest";
import { judgeSession } from "./judge-session.ts";

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));
const times = { idleMs: 10 * 60_000, wholeMs: 60 * 60_000 };
const session = { seenAt: at(20), endsAt: at(60), endedAt: null };

test.each([
  ["used lately", session, 25, { kind: "live", until: at(30) }],
  [
    "used lately, near its end",
    { ...session, seenAt: at(55) },
    58,
    { kind: "live", until: at(60) },
  ],
  ["silent for just as long as it may not be", session, 30, { kind: "over", why: "idle" }],
  ["at its end, though used", { ...session, seenAt: at(59) }, 60, { kind: "over", why: "aged" }],
  ["signed out", { ...session, endedAt: at(21) }, 22, { kind: "over", why: "signed out" }],
])("a session that is %s", (_, stored, minute, expected) => {
  expect(judgeSession(stored, times, at(minute))).toEqual(expected);
});
