import { expect, test } from "vitest";
import { parseTimes } from "./proc-limiter.ts";
import { descendantsOf, parseStat } from "./process-tree.ts";

test("reads a process whose name contains spaces and parentheses", () => {
  const numbers = Array.from({ length: 50 }, (_, i) => i + 3);
  const info = parseStat(`42 (a ) b) S ${numbers.slice(1).join(" ")}`);

  expect(info).toMatchObject({ pid: 42, parent: 4, startTime: "22" });
});

test("finds all descendants of a process, and no other process", () => {
  const of = (pid: number, parent: number) => ({
    pid,
    parent,
    startTime: "1",
    residentBytes: 0,
    userTicks: 0,
    systemTicks: 0,
  });

  const found = descendantsOf(2, [of(1, 0), of(4, 3), of(2, 1), of(3, 2), of(9, 1)]);

  expect(found.map(({ pid }) => pid)).toEqual([2, 3, 4]);
});

test.each([
  ["0m0.120s", 120],
  ["2m1.5s", 121_500],
  ["nonsense", 0],
])("reads %s of times", (text, ms) => {
  expect(parseTimes(text)).toBe(ms);
});
