import { expect, test } from "vitest";
import { isTimeToLook, type LastLook } from "./time-to-look.ts";

const minuteMs = 60_000;
const now = 1e12;
const last = (minutesAgo: number): LastLook => ({
  atMs: now - minutesAgo * minuteMs,
  bytes: 80,
  diskFreeBytes: 1_000,
});

test.each([
  { why: "never looked", last: undefined, limit: 100, free: 1_000, looks: true },
  { why: "an hour ago", last: last(60), limit: undefined, free: 1_000, looks: true },
  { why: "no limit, a moment ago", last: last(59), limit: undefined, free: 0, looks: false },
  {
    why: "the disk lost less than there was room",
    last: last(30),
    limit: 100,
    free: 980,
    looks: false,
  },
  { why: "the disk lost more", last: last(30), limit: 100, free: 979, looks: true },
  { why: "it did, and we looked a moment ago", last: last(9), limit: 100, free: 0, looks: false },
  {
    why: "it was over the limit when we left",
    last: last(10),
    limit: 70,
    free: 5_000,
    looks: true,
  },
  { why: "the clock was set back", last: last(-600), limit: undefined, free: 1_000, looks: true },
  {
    why: "the disk fills up, and we looked two minutes ago",
    last: last(2),
    limit: undefined,
    free: 1_000,
    isShort: true,
    looks: true,
  },
  {
    why: "the disk fills up, and we looked a minute ago",
    last: last(1),
    limit: undefined,
    free: 1_000,
    isShort: true,
    looks: false,
  },
])("$why: $looks", ({ last: before, limit, free, looks, isShort = false }) => {
  expect(isTimeToLook(before, limit, free, now, isShort)).toBe(looks);
});
