import { expect, test } from "vitest";
import { LineCutter, longestJudged } from "./line-cutter.ts";

const encoder = new TextEncoder();

function linesOf(...chunks: (string | Uint8Array)[]) {
  const cutter = new LineCutter();
  const lines = chunks.flatMap((chunk) =>
    cutter.push(typeof chunk === "string" ? encoder.encode(chunk) : chunk),
  );
  return [...lines, ...cutter.end()].map(({ number, text }) => `${number} ${text}`);
}

test("lines are complete for any division into chunks", () => {
  const euro = encoder.encode("5 €\n");

  expect(linesOf("one\ntw", "o\n\nfo", euro.subarray(0, 3), euro.subarray(3), "end")).toEqual([
    "1 one",
    "2 two",
    "3 ",
    "4 fo5 €",
    "5 end",
  ]);
});

test.each([
  { what: "colours are not seen", text: "\u001b[1;31merror:\u001b[0m no\n", seen: ["1 error: no"] },
  { what: "nor is a window's title", text: "\u001b]0;title\u0007ok\n", seen: ["1 ok"] },
  { what: "a progress bar's last state counts", text: "1%\r50%\r100%\n", seen: ["1 100%"] },
  { what: "a line may end with CR LF", text: "one\r\ntwo\r\r\n", seen: ["1 one", "2 two"] },
])("$what", ({ text, seen }) => {
  expect(linesOf(text)).toEqual(seen);
  expect(linesOf(...text.split(""))).toEqual(seen);
});

test("the beginning of an endless line is kept, and the next line has the next number", () => {
  const cutter = new LineCutter();

  const lines = [
    ...Array.from({ length: 40 }, () => cutter.push(encoder.encode("x".repeat(1_000)))).flat(),
    ...cutter.push(encoder.encode("\nnext\n")),
  ];

  expect(lines.map(({ number, text }) => [number, text.length])).toEqual([
    [1, longestJudged],
    [2, 4],
  ]);
});

test("a line of only escape sequences costs no more than its length", () => {
  const hostile = `${"\u001b[".repeat(2_000)}\n${"\u001b]".repeat(2_000)}\n`;

  expect(linesOf(hostile).length).toBe(2);
});
