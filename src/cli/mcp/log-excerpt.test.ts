import { expect, test } from "vitest";
import { endOfLog, linesFrom, logLines, probableErrorLine, searchLog } from "./log-excerpt.ts";

/** A log that the server answers in pieces of a few bytes. */
function logOf(text: string, pieceBytes = 7) {
  const all = Buffer.from(text);
  return {
    async logAt(_path: string, offset: number) {
      const bytes = all.subarray(offset, offset + pieceBytes);
      return { bytes, nextOffset: offset + bytes.length, isComplete: false };
    },
  };
}

async function textsOf(text: string): Promise<string[]> {
  const texts: string[] = [];
  for await (const lines of logLines(logOf(text), ""))
    texts.push(...lines.map((line) => line.text));
  return texts;
}

test("lines are whole across the pieces of the server, also within a character", async () => {
  expect(await textsOf("äöü 日本語 text\nnext\n\nlast")).toEqual([
    "äöü 日本語 text",
    "next",
    "",
    "last",
  ]);
  expect(await textsOf("")).toEqual([]);
});

test("colours, control characters and overwritten progress are not shown", async () => {
  const esc = "\u001b";
  expect(await textsOf(`10 %\r50 %\r100 %\r\n${esc}[31mred${esc}[0m\u0007\ta\n`)).toEqual([
    "100 %",
    "red\ta",
  ]);
});

const numbers = Array.from({ length: 50 }, (_, i) => `n${i + 1}`).join("\n");

test("the end has the last lines and the number of all", async () => {
  const { lines, totalLines } = await endOfLog(logOf(numbers), "", 2);

  expect(lines).toEqual([
    { line: 49, text: "n49" },
    { line: 50, text: "n50" },
  ]);
  expect(totalLines).toBe(50);
});

test("lines from a number on end the reading", async () => {
  expect((await linesFrom(logOf(numbers), "", 9, 3)).map(({ text }) => text)).toEqual([
    "n9",
    "n10",
    "n11",
  ]);
});

test("a search has the lines around each match, and counts all of them", async () => {
  const { matches, totalMatches } = await searchLog(logOf(numbers), "", "N4", {
    context: 1,
    most: 2,
  });

  expect(totalMatches).toBe(11);
  expect(matches).toEqual([
    {
      line: 4,
      text: "n4",
      before: [{ line: 3, text: "n3" }],
      after: [{ line: 5, text: "n5" }],
    },
    {
      line: 40,
      text: "n40",
      before: [{ line: 39, text: "n39" }],
      after: [{ line: 41, text: "n41" }],
    },
  ]);
});

test.each([
  { texts: ["ok", "a.c:1: error: no", "later error"], line: 2 },
  { texts: ["0 errors", "Failures: 0", "thread 'main' panicked at x"], line: 3 },
  { texts: ["$ echo error", "fine"], line: undefined },
])("the probable error of $texts is line $line", ({ texts, line }) => {
  const lines = texts.map((text, i) => ({ line: i + 1, text }));

  expect(probableErrorLine(lines)?.line).toBe(line);
});
