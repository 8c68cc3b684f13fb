import { expect, test } from "vitest";
import { endText, startText } from "./estimate-text.ts";

const now = Date.parse("2026-06-01T12:00:00Z");
const at = (minutes: number) => new Date(now + minutes * 60_000).toISOString();
const estimate = (starts: number, ends: number, least: number, most: number) => ({
  startsAt: at(starts),
  endsAt: at(ends),
  leastEndsAt: at(least),
  mostEndsAt: at(most),
});
const unknown = { startsAt: null, endsAt: null, leastEndsAt: null, mostEndsAt: null };

test.each([
  [estimate(0, 12, 8, 20), "ends in about 12 min (8 min to 20 min)"],
  [estimate(0, 12, 12, 12), "ends in about 12 min"],
  [estimate(0, 90, 80, 120), "ends in about 1 h 30 m (1 h 20 m to 2 h 00 m)"],
  [estimate(0, 0.8, 0.8, 0.8), "ends in less than a minute"],
  [estimate(0, -3, -5, 4), "takes longer than usual"],
  [estimate(0, -9, -12, -4), "takes longer than any recent one"],
  [unknown, "its duration is not known"],
])("%j: %s", (said, words) => {
  expect(endText(said, now)).toBe(words);
});

test("a waiting request shows its estimated start", () => {
  expect(startText(estimate(0.2, 9, 9, 9), now)).toBe("begins next");
  expect(startText(estimate(25, 9, 9, 9), now)).toBe("begins in about 25 min");
  expect(startText(unknown, now)).toBe("its start is not known");
});
