import { expect, test } from "vitest";
import { chooseScanned, everyOf } from "./choose-scanned.ts";

const days = (from: string, count: number) =>
  Array.from({ length: count }, (_, i) => new Date(Date.parse(from) + i * 86_400_000));

test.each([
  { every: 1, of: 4, chosen: [0, 1, 2, 3] },
  { every: 3, of: 8, chosen: [0, 3, 6, 7] },
  { every: 100, of: 5, chosen: [0, 4] },
  { every: 2, of: 1, chosen: [0] },
  { every: 2, of: 0, chosen: [] },
] as const)("every $every of $of", ({ every, of, chosen }) => {
  expect(chooseScanned(days("2026-01-01T00:00:00Z", of), every)).toEqual(chosen);
});

test("the first of each month, and both ends", () => {
  const line = days("2026-01-20T12:00:00Z", 60);
  const chosen = chooseScanned(line, "month").map((i) => line[i]?.toISOString().slice(0, 10));
  expect(chosen).toEqual(["2026-01-20", "2026-02-01", "2026-03-01", "2026-03-20"]);
});

test("weeks begin on Mondays", () => {
  // 2026-11-22 is a Sunday.
  const line = days("2026-11-20T00:00:00Z", 12);
  const chosen = chooseScanned(line, "week").map((i) => line[i]?.toISOString().slice(0, 10));
  expect(chosen).toEqual(["2026-11-20", "2026-11-23", "2026-11-30", "2026-12-01"]);
});

test.each([
  ["week", "week"],
  ["12", 12],
  [null, 1],
  ["nonsense", 1],
] as const)("%s is read as %s", (text, every) => {
  expect(everyOf(text)).toBe(every);
});
