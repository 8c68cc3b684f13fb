import { expect, test } from "vitest";
import { chooseCoalesced, type WaitingOfKey } from "./choose-coalesced.ts";

const waiting = (graphNumber: number, more: Partial<WaitingOfKey> = {}): WaitingOfKey => ({
  graphId: `g${graphNumber}`,
  job: "slow",
  committedMs: graphNumber * 1_000,
  graphNumber,
  waitedMs: 60_000,
  minDepth: 2,
  minAgeMs: 30_000,
  ...more,
});
const numbers = (jobs: readonly WaitingOfKey[]) => {
  const chosen = chooseCoalesced(jobs);
  return chosen && [chosen.into.graphNumber, chosen.older.map((job) => job.graphNumber)];
};

test("the newest job stands for all that waited long enough, whatever its own age", () => {
  const newest = waiting(9, { waitedMs: 0 });

  expect(numbers([waiting(3), newest, waiting(5)])).toEqual([9, [5, 3]]);
});

test("the newest is that of the newest commit, not the latest submission", () => {
  const again = waiting(9, { committedMs: 1_500 });

  expect(numbers([waiting(1), waiting(3), waiting(2), again])).toEqual([3, [2, 9, 1]]);
});

test.each([
  { what: "too few wait", jobs: [waiting(1), waiting(2)] },
  { what: "some are too young", jobs: [waiting(1), waiting(2, { waitedMs: 29_999 }), waiting(3)] },
  { what: "they are of the same commit", jobs: [waiting(1), waiting(1), waiting(1)] },
  { what: "nothing waits", jobs: [] },
])("nothing is coalesced when $what", ({ jobs }) => {
  expect(numbers(jobs)).toBeUndefined();
});

test("the newest job's definition sets the depth and the time", () => {
  const strict = waiting(9, { minDepth: 3 });

  expect(numbers([waiting(1), waiting(2), strict])).toBeUndefined();
  expect(numbers([waiting(1), waiting(2), waiting(9, { minDepth: 1 })])).toEqual([9, [2, 1]]);
});
