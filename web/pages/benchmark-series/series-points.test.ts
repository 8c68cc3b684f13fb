import { expect, test } from "vitest";
import { artifactBefore, linesOf, machineChanges, pointsWithin } from "./series-points.ts";

const point = (artifact: string, fingerprint = "a") => ({
  artifact,
  fingerprint,
  datedAt: "2026-06-01T00:00:00Z",
  value: 1,
  collector: "barn-1",
});
const points = [point("1"), point("2"), point("2", "b"), point("3", "b"), point("4")];

test("a range includes both ends, and a missing end does not limit it", () => {
  expect(pointsWithin(points, { from: "2", to: "3" })).toEqual(points.slice(1, 4));
  expect(pointsWithin(points, { from: "nowhere", to: "2" })).toEqual(points.slice(0, 3));
  expect(pointsWithin(points, {})).toEqual(points);
});

test("a point is compared with another artifact, not with the same on another machine", () => {
  expect(points.map((_, n) => artifactBefore(points, n))).toEqual([undefined, "1", "1", "2", "3"]);
});

test("lines end where the machine changes", () => {
  expect(machineChanges(points)).toEqual([2, 4]);
  expect(linesOf(points)).toEqual([[0, 1], [2, 3], [4]]);
  expect(linesOf([])).toEqual([]);
});
