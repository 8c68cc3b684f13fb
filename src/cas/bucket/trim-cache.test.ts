import { expect, test } from "vitest";
import { BytesByIdleTime } from "./trim-cache.ts";

const hour = 60 * 60_000;

test("nothing goes while everything fits", () => {
  const found = new BytesByIdleTime();
  found.add(100, hour);

  expect(found.idleMsToKeep(100)).toBe(Number.POSITIVE_INFINITY);
});

test("what was used longest ago goes, and only as much as is needed", () => {
  const found = new BytesByIdleTime();
  for (const hours of [1, 2, 4, 8]) found.add(100, hours * hour);

  const leastMs = found.idleMsToKeep(250);

  expect(leastMs).toBeGreaterThan(2 * hour);
  expect(leastMs).toBeLessThanOrEqual(4 * hour);
});

test("without room, everything goes, also what a faster clock used in the future", () => {
  const found = new BytesByIdleTime();
  found.add(100, -hour);

  expect(found.idleMsToKeep(0)).toBe(0);
});
