import { expect, test } from "vitest";
import { defaultLimitBytes, diskShortBytes, storeGoal } from "./store-goal.ts";

const gibibyte = 1024 ** 3;

test("without a setting, the store may have three quarters of the disk", () => {
  expect(defaultLimitBytes(100 * gibibyte)).toBe(75 * gibibyte);
});

test.each([
  { what: "a disk with room", disk: 100, free: 2, short: 0 },
  { what: "a disk that fills up", disk: 100, free: 1, short: 1 },
  { what: "a large disk, which keeps no more than 5 GiB free", disk: 10_000, free: 3, short: 2 },
])("$what lacks $short GiB", ({ disk, free, short }) => {
  expect(diskShortBytes(disk * gibibyte, free * gibibyte)).toBe(short * gibibyte);
});

test.each([
  { what: "within its limit", bytes: 100, limit: 100, short: 0, goal: undefined },
  { what: "without a limit", bytes: 100, limit: undefined, short: 0, goal: undefined },
  {
    what: "above its limit",
    bytes: 101,
    limit: 100,
    short: 0,
    goal: { evictToBytes: 90, ceilingBytes: 200 },
  },
  {
    what: "within its limit on a disk that fills up",
    bytes: 100,
    limit: 200,
    short: 30,
    goal: { evictToBytes: 70, ceilingBytes: 70 },
  },
  {
    what: "without a limit on a disk that fills up",
    bytes: 100,
    limit: undefined,
    short: 30,
    goal: { evictToBytes: 70, ceilingBytes: 70 },
  },
  {
    what: "that has less than the disk lacks",
    bytes: 10,
    limit: undefined,
    short: 30,
    goal: { evictToBytes: 0, ceilingBytes: 0 },
  },
])("a store $what has its goal", ({ bytes, limit, short, goal }) => {
  expect(storeGoal(bytes, limit, short)).toEqual(goal);
});
