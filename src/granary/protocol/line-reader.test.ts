import fc from "fast-check";
import { expect, test } from "vitest";
import { lineReader } from "./line-reader.ts";

test("lines are the same for any division of their bytes", () => {
  // Characters of one to four bytes each, so that chunks may end inside them.
  const unit = fc.constantFrom("a", "é", "€", "😀", "\r", "\0", " ");
  const text = fc.string({ unit, maxLength: 40 });
  fc.assert(
    fc.property(fc.array(text), fc.array(fc.nat(200)), (lines, cuts) => {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
      const read = lineReader();
      const found: unknown[] = [];
      let from = 0;
      for (const cut of cuts) {
        found.push(...read(bytes.subarray(from, from + cut)));
        from = Math.min(bytes.byteLength, from + cut);
      }
      found.push(...read(bytes.subarray(from)));
      const wanted = lines
        .filter((line) => line !== "")
        .map((line) => Buffer.from(line).toString());
      expect(found).toEqual(wanted.map((line) => ({ kind: "line", text: line })));
    }),
  );
});

test("a line that is too long is reported once, and the next is read", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 11, max: 100 }),
      fc.integer({ min: 1, max: 30 }),
      (length, step) => {
        const bytes = Buffer.from(`${"x".repeat(length)}\nshort\n`);
        const read = lineReader(10);
        const found: unknown[] = [];
        for (let at = 0; at < bytes.byteLength; at += step) {
          found.push(...read(bytes.subarray(at, at + step)));
        }
        expect(found).toEqual([{ kind: "too-long" }, { kind: "line", text: "short" }]);
      },
    ),
  );
});
