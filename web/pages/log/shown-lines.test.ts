import fc from "fast-check";
import { expect, test } from "vitest";
import { blockAt } from "./block-at.ts";
import { ShownLines } from "./shown-lines.ts";

test("a folded group has the row of its title only", () => {
  const shown = new ShownLines(10, [[3, 5]], 0, 100);

  expect(Array.from({ length: shown.count }, (_, row) => shown.lineAt(row))).toEqual([
    0, 1, 2, 5, 6, 7, 8, 9,
  ]);
  expect([0, 2, 3, 4, 5, 9].map((line) => shown.rowOf(line))).toEqual([0, 2, 2, 2, 3, 7]);
});

test("the row of a line shows it, whatever is folded and wherever the rows begin", () => {
  const sizes = fc.array(fc.tuple(fc.nat(20), fc.integer({ min: 2, max: 20 })), { maxLength: 5 });
  fc.assert(
    fc.property(sizes, fc.nat(10), (parts, from) => {
      let line = from + 1;
      const groups = parts.map(([gap, length]): [number, number] => {
        const title = line + gap;
        line = title + length;
        return [title, line - 1];
      });
      const shown = new ShownLines(line + 10, groups, from, 1_000);

      for (let row = 0; row < shown.count; row++) expect(shown.rowOf(shown.lineAt(row))).toBe(row);
    }),
  );
});

test("a line is in the last block that begins before it", () => {
  const blocks = [
    [0, 0],
    [10, 500],
    [25, 900],
  ] as const;

  expect([0, 9, 10, 24, 25, 99].map((line) => blockAt(blocks, line))).toEqual([0, 0, 1, 1, 2, 2]);
});
