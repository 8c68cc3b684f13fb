import { expect, test } from "vitest";
import { tooMany } from "./upload-limits.ts";

const limits = { mostUploads: 3, mostBytes: 100, keptForMs: 1_000 };
const kept = (name: string, sizeBytes: number, writtenAtMs: number) => ({
  name,
  sizeBytes,
  writtenAtMs,
});

test.each([
  ["nothing, when all are young and few", [kept("a", 10, 9_500), kept("b", 90, 9_900)], []],
  ["what is old", [kept("a", 10, 8_999), kept("b", 10, 9_000)], ["a"]],
  [
    "the oldest of too many",
    [kept("a", 1, 9_500), kept("b", 1, 9_200), kept("c", 1, 9_900), kept("d", 1, 9_800)],
    ["b"],
  ],
  ["the oldest of too much", [kept("a", 60, 9_500), kept("b", 60, 9_900)], ["a"]],
])("gives up %s", (_, all, expected) => {
  expect(tooMany(all, limits, 10_000).map(({ name }) => name)).toEqual(expected);
});
