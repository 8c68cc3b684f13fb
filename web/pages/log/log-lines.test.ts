import fc from "fast-check";
import { expect, test } from "vitest";
import { LogLines, longestLine } from "./log-lines.ts";

const linesOf = (...chunks: string[]) => {
  const lines = new LogLines();
  for (const chunk of chunks) lines.push(chunk);
  return Array.from({ length: lines.count }, (_, index) => lines.at(index)?.raw);
};

test.each([
  ["nothing", [""], []],
  ["a line without its end", ["abc"], ["abc"]],
  ["complete lines", ["a\nb\n"], ["a", "b"]],
  ["empty lines", ["\n\na\n"], ["", "", "a"]],
  ["Windows lines", ["a\r\nb\r\n"], ["a", "b"]],
  ["a Windows line cut in two", ["a\r", "\nb"], ["a", "b"]],
  ["a line in three chunks", ["ab", "cd", "ef\n"], ["abcdef"]],
  ["progress", ["10%\r50%\r100%\n"], ["100%"]],
  ["progress over chunks", ["10%\r", "50%\r", "100%", "\n"], ["100%"]],
  ["progress that stands at its last state", ["10%\r50%\r"], ["50%"]],
])("cuts %s", (_, chunks, expected) => {
  expect(linesOf(...chunks)).toEqual(expected);
});

test("counts states that progress has overwritten", () => {
  const lines = new LogLines();
  lines.push("1\r2\r3\nnext\n");

  expect(lines.at(0)).toMatchObject({ raw: "3", folded: 2 });
  expect(lines.at(1)).toMatchObject({ raw: "next", folded: 0 });
});

test("a colour continues over lines, also after overwritten text", () => {
  const lines = new LogLines();
  lines.push("\u001b[31mred\nstill\n\u001b[32m1\r2\nafter");

  expect(lines.at(1)?.style.foreground).toBe(1);
  expect(lines.at(2)?.style.foreground).toBe(2);
  expect(lines.at(3)?.style.foreground).toBe(2);
});

test("any division of a text into chunks gives the same lines", () => {
  const text = fc.array(fc.constantFrom("a", "é", "😀", "\n", "\r", "\r\n", "\u001b[31m"), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(text, fc.array(fc.nat(200)), (parts, cuts) => {
      const whole = parts.join("");
      const at = [
        ...new Set([0, ...cuts.filter((cut) => cut < whole.length), whole.length]),
      ].toSorted((a, b) => a - b);
      const chunks = at.slice(1).map((end, index) => whole.slice(at[index], end));
      expect(linesOf(...chunks)).toEqual(linesOf(whole));
    }),
  );
});

test("holds the beginning of an endless line, cuts no character, and counts the rest", () => {
  const lines = new LogLines();
  for (const chunk of ["x".repeat(longestLine - 1), "😀", "y".repeat(longestLine), "zz\nnext\n"])
    lines.push(chunk);

  expect(lines.at(0)).toMatchObject({
    raw: "x".repeat(longestLine - 1),
    hidden: longestLine + 4,
  });
  expect(lines.at(1)).toMatchObject({ raw: "next", hidden: 0 });
});

test("an endless line that is overwritten shows its last state", () => {
  const lines = new LogLines();
  for (const chunk of ["x".repeat(longestLine * 2), "xx\r", "100%\n"]) lines.push(chunk);

  expect(lines.at(0)).toMatchObject({ raw: "100%", hidden: 0, folded: 1 });
});

test("does not cut a colour sequence", () => {
  const raw = linesOf("\u001b[31mx\u001b[0m".repeat(5_000))[0];

  expect(["\u001b[31mx", "\u001b[0m"].some((end) => raw?.endsWith(end))).toBe(true);
});

test("lines that are dropped leave the others with their colours", () => {
  const lines = new LogLines();
  lines.push("\u001b[31mone\ntwo\nthree");

  lines.dropFirst(1);

  expect([lines.count, lines.at(0)?.raw, lines.at(0)?.style.foreground]).toEqual([2, "two", 1]);
});

test.each([
  ["a million lines", "ok 1 - \u001b[32mgreen\u001b[0m and more text\n".repeat(1_000), 1_000],
  ["a log of one line", "x".repeat(1_000), 10_000],
  ["endless progress", "12 % done\r".repeat(10), 100_000],
])("comes to an end for %s", (_, chunk, times) => {
  const lines = new LogLines();
  for (let n = 0; n < times; n++) lines.push(chunk);

  // Quadratic work would exceed the test's timeout.
  expect(lines.count).toBeGreaterThan(0);
});
