import { expect, test } from "vitest";
import { problemLines } from "./problem-lines.ts";
import { paintFor } from "./terminal/paint.ts";

const paint = paintFor(false);
const text = "version: 1\njobs:\n\tlint:\n  comands: x\n";

test("a problem with a place shows its line, and a caret under the column", () => {
  const problem = {
    file: ".grange/farm.yml",
    line: 4,
    column: 3,
    message: "did you mean commands?",
  };

  expect(problemLines(problem, text, paint)).toEqual([
    ".grange/farm.yml:4:3: did you mean commands?",
    "4 |   comands: x",
    "      ^",
  ]);
});

test("the caret keeps its place behind a tab", () => {
  const problem = { file: "f", line: 3, column: 2, message: "m" };

  expect(problemLines(problem, text, paint).slice(1)).toEqual(["3 |  lint:", "     ^"]);
});

test("a problem without a line, or of a file that is not at hand, is one line", () => {
  expect(problemLines({ file: "f", line: null, column: null, message: "m" }, text, paint)).toEqual([
    "f: m",
  ]);
  expect(problemLines({ file: "f", line: 9, column: 1, message: "m" }, text, paint)).toEqual([
    "f:9:1: m",
  ]);
});

test("of a very long line only what surrounds the place is shown", () => {
  const problem = { file: "f", line: 1, column: 5_001, message: "m" };

  const [, source, caret] = problemLines(
    problem,
    `${"x".repeat(5_000)}HERE${"y".repeat(5_000)}`,
    paint,
  );

  expect(source?.indexOf("HERE")).toBe(caret?.indexOf("^"));
  expect(source?.length).toBeLessThan(120);
});
