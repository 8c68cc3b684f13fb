import { expect, test } from "vitest";
import { shownLogLine } from "#core/shown-log-line.ts";
import type { ApiClient } from "../api/api-client.ts";
import { endOfLog, linesFrom, logOfFailure, readingsOf, searchLog } from "./log-excerpt.ts";

const addresses = {
  log: (limit: number) => String(limit),
  index: "index",
  search: (query: Readonly<Record<string, string>>) => JSON.stringify(query),
};

/** A log with an index of blocks of `blockLines` lines, which the server answers in pieces of a few bytes. */
function logOf(text: string, { blockLines = 4, pieceBytes = 7 } = {}) {
  const all = Buffer.from(text);
  const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  const blocks: [number, number][] = [];
  for (let at = 0; at < Math.max(1, lines.length); at += blockLines)
    blocks.push([
      at,
      Buffer.byteLength(
        lines
          .slice(0, at)
          .map((line) => `${line}\n`)
          .join(""),
      ),
    ]);
  const read: number[] = [];
  const matching = ({ text: wanted, errors, most }: Record<string, string>) => {
    const found = lines.flatMap((line, at) =>
      (errors === "true" ? /\berror\b/ : new RegExp(wanted ?? "", "i")).test(line) ? [at + 1] : [],
    );
    const next = found[Number(most)] ?? null;
    return { lines: found.slice(0, Number(most)), next };
  };
  const api = {
    async get(schema: { parse(value: unknown): unknown }, path: string) {
      const answer =
        path === "index"
          ? {
              attempt: 1,
              complete: true,
              bytes: all.length,
              lines: lines.length,
              blocks,
              notes: [],
              groups: [],
            }
          : matching(JSON.parse(path) as Record<string, string>);
      return schema.parse(answer);
    },
    async logAt(limit: string, offset: number) {
      const bytes = all.subarray(offset, offset + Math.min(pieceBytes, Number(limit)));
      read.push(offset);
      return { bytes, nextOffset: offset + bytes.length, isComplete: false };
    },
  } as unknown as Pick<ApiClient, "get" | "logAt">;
  return { api, read };
}

const numbers = Array.from({ length: 50 }, (_, i) => `n${i + 1}`).join("\n");
const textsOf = ({ lines }: { readonly lines: readonly { readonly text: string }[] }) =>
  lines.map(({ text }) => text);

test("lines are whole across the pieces of the server, also within a character", async () => {
  const { api } = logOf("äöü 日本語 text\nnext\n\nlast");

  expect(textsOf(await linesFrom(api, addresses, 1, 10))).toEqual([
    "äöü 日本語 text",
    "next",
    "",
    "last",
  ]);
  expect(await endOfLog(logOf("").api, addresses, 10)).toEqual({ lines: [], totalLines: 0 });
});

test("colours, control characters and overwritten progress are not shown", async () => {
  const esc = "\u001b";
  const { api } = logOf(`10 %\r50 %\r100 %\r\n${esc}[31mred${esc}[0m\u0007\ta\n`);

  expect(textsOf(await linesFrom(api, addresses, 1, 9))).toEqual(["100 %", "red\ta"]);
  expect(shownLogLine(`${esc}[1mx`)).toBe("x");
});

test("the end has the last lines and the number of all, and is read without the beginning", async () => {
  const { api, read } = logOf(numbers);

  const { lines, totalLines } = await endOfLog(api, addresses, 2);

  expect(lines).toEqual([
    { line: 49, text: "n49" },
    { line: 50, text: "n50" },
  ]);
  expect(totalLines).toBe(50);
  expect(Math.min(...read)).toBeGreaterThan(numbers.indexOf("n48"));
});

test("lines from a number on are read from their block to that of the last one", async () => {
  const { api, read } = logOf(numbers);

  expect(textsOf(await linesFrom(api, addresses, 9, 3))).toEqual(["n9", "n10", "n11"]);
  expect(Math.min(...read)).toBe(numbers.indexOf("n9"));
  expect(Math.max(...read)).toBeLessThan(numbers.indexOf("n13"));
  expect(await linesFrom(api, addresses, 60, 3)).toEqual({ lines: [], totalLines: 50 });
});

test("a search has the lines around each match, and counts all of them", async () => {
  const { api } = logOf("a\nb\nFOUND it\nc\nd\nfound again\ne\nfound\n");

  const found = await searchLog(api, addresses, "found", { context: 1, most: 2 });

  expect(found).toMatchObject({ totalMatches: 3, isExact: true });
  expect(found.matches).toEqual([
    {
      line: 3,
      text: "FOUND it",
      before: [{ line: 2, text: "b" }],
      after: [{ line: 4, text: "c" }],
    },
    {
      line: 6,
      text: "found again",
      before: [{ line: 5, text: "d" }],
      after: [{ line: 7, text: "e" }],
    },
  ]);
  expect(await searchLog(api, addresses, "absent", { context: 1, most: 2 })).toEqual({
    matches: [],
    totalMatches: 0,
    isExact: true,
  });
});

test("the error of a failure is found in the end of the log, or else by the server's search", async () => {
  const failed = logOf("ok\nfine\nx.c:1: error - bad\nlast\n");
  const early = logOf(`error in the beginning\n${"fine\n".repeat(500)}`);

  expect(await logOfFailure(failed.api, addresses, 1)).toEqual({
    lines: [{ line: 4, text: "last" }],
    totalLines: 4,
    errorLine: { line: 3, text: "x.c:1: error - bad" },
  });
  expect(await logOfFailure(early.api, addresses, 0)).toEqual({
    lines: [],
    totalLines: 501,
    errorLine: { line: 1, text: "error in the beginning" },
  });
  expect((await logOfFailure(logOf("ok\n").api, addresses, 1)).errorLine).toBeUndefined();
});

test("matches near each other are read at once, and distant ones apart", () => {
  expect(readingsOf([1, 5, 10_000], 2)).toEqual([
    { from: 1, count: 7, lines: [1, 5] },
    { from: 9_998, count: 5, lines: [10_000] },
  ]);
  expect(readingsOf([], 2)).toEqual([]);
});
