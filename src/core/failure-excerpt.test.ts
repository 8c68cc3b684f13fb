import { expect, test } from "vitest";
import { failureExcerpt } from "./failure-excerpt.ts";

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`);

test("shows the end of a log, with its error marked", () => {
  const log = `${[...numbered(1, 30), "main.c:4:10: error: no", "make: *** [all] Error 1"].join("\n")}\n`;

  const { lines, continues } = failureExcerpt(log, 4);

  expect(lines.map(({ text }) => text)).toEqual([
    "line 29",
    "line 30",
    "main.c:4:10: error: no",
    "make: *** [all] Error 1",
  ]);
  expect(lines.filter(({ isError }) => isError).map(({ text }) => text)).toEqual([
    "main.c:4:10: error: no",
  ]);
  expect(continues).toBe(false);
});

test("shows the error when much was printed after it", () => {
  const log = [...numbered(1, 9), "main.c:4:10: error: no", ...numbered(11, 40)].join("\n");

  const { lines, continues } = failureExcerpt(log, 5);

  expect(lines.map(({ text }) => text)).toEqual([
    ...numbered(7, 9),
    "main.c:4:10: error: no",
    "line 11",
  ]);
  expect(continues).toBe(true);
});

test("shows no colours, no control characters, and the last state of a progress line", () => {
  const { lines } = failureExcerpt("10 %\r90 %\r\n\u001b[31mred\u001b[0m\u0007\n", 5);

  expect(lines.map(({ text }) => text)).toEqual(["90 %", "red"]);
});

test("an empty log has no lines", () => {
  expect(failureExcerpt("", 5)).toEqual({ lines: [], continues: false });
});
