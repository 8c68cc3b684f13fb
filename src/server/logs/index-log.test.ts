import fc from "fast-check";
import { expect, test } from "vitest";
import { indexText } from "../../../web/pages/log/index-text.ts";
import { indexLog } from "./index-log.ts";
import { WrittenLog } from "./log.fixture.ts";
import { LogIndexes } from "./log-indexes.ts";
import { wholeLines } from "./whole-lines.ts";

const piece = fc.oneof(
  fc.constantFrom("\n", "\r\n", "a line\n", "[grange: 5 bytes are left out here]\n", "é"),
  fc.integer({ min: 0, max: 200_000 }).map((length) => "y".repeat(length)),
  fc.integer({ min: 0, max: 5_000 }).map((lines) => "some words\n".repeat(lines)),
);

test("blocks name lines and their offsets, in whatever parts the log grew", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 20 }), async (pieces) => {
      const log = new WrittenLog("");
      let so = await indexLog(log.read, undefined);
      for (const text of pieces) {
        log.add(text);
        so = await indexLog(log.read, so);
      }
      const all = log.bytes.toString("latin1");
      const { index } = so;

      const ends = all.split("\n");
      expect(index.lines).toBe(ends.at(-1) === "" ? ends.length - 1 : ends.length);
      expect(index.bytes).toBe(all.length);
      for (const [lines, offset] of index.blocks) {
        const before = all.slice(0, offset);
        expect(before.split("\n").length - 1).toBe(lines);
        expect(before === "" || before.endsWith("\n")).toBe(true);
      }
      expect(index.blocks.length).toBeLessThanOrEqual(1 + all.length / (128 * 1024));
      expect(index.notes.every(({ text }) => text.startsWith("[grange: "))).toBe(true);
    }),
    { numRuns: 60 },
  );
});

const shortPiece = fc.constantFrom(
  "a line\n",
  "no end",
  "é\n",
  "\r\n",
  "\n",
  "[grange: 12 bytes are left out here]\n",
  "##[group]Install\n",
  "##[endgroup]\n",
  "::group::Test\n",
  "::endgroup::\n",
);

test("pages index a short log as the server does", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(shortPiece, { maxLength: 40 }), async (pieces) => {
      const text = pieces.join("");

      const { index } = await indexLog(new WrittenLog(text).read, undefined);

      const { attempt, complete, bytes } = index;
      expect(indexText(text, { attempt, complete, bytes })).toEqual(index);
    }),
    { numRuns: 100 },
  );
});

test("says where the farm left something out, and where groups begin and end", async () => {
  const lines = [
    "one",
    "##[group]Install",
    "inside",
    "##[endgroup]",
    "[grange: 12 bytes are left out here]",
    "::group::Test",
    "inside, too",
    "::group::Next",
    "x",
    "::endgroup::",
  ];
  const { index } = await indexLog(new WrittenLog(`${lines.join("\n")}\n`).read, undefined);

  expect(index.notes).toEqual([{ line: 5, text: "[grange: 12 bytes are left out here]" }]);
  expect(index.groups).toEqual([
    [2, 4],
    [6, 7],
    [8, 10],
  ]);
});

test("an index that is known is continued, and counted anew for another attempt", async () => {
  const log = new WrittenLog("one\ntw");
  const indexes = new LogIndexes();
  expect((await indexes.of("log", log.read)).lines).toBe(2);

  log.add("o\nthree\n");
  const both = await Promise.all([indexes.of("log", log.read), indexes.of("log", log.read)]);
  expect(both.map(({ lines }) => lines)).toEqual([3, 3]);

  log.restart("again\n");
  expect(await indexes.of("log", log.read)).toMatchObject({ attempt: 2, lines: 1, bytes: 6 });
});

test("a part of a log is limited, whatever its lines are like", async () => {
  const megabytes = 48;
  const read = async (offset: number, most: number) => {
    const left = megabytes * 1024 * 1024 - offset;
    const bytes = Buffer.alloc(Math.max(0, Math.min(most, left)), "x");
    return { bytes, nextOffset: offset + bytes.length, complete: false, attempt: 1 };
  };
  const sizes: number[] = [];
  for await (const { bytes } of wholeLines(read, 0)) sizes.push(bytes.length);

  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(megabytes * 1024 * 1024);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(8 * 1024 * 1024);
});
