import fc from "fast-check";
import { expect, test } from "vitest";
import { JsonValueCount } from "./json-value-count.ts";

const bytes = (text: string) => Buffer.from(text);

test.each([
  { text: "7", count: 1 },
  { text: "[1,1,1]", count: 4 },
  { text: '{"a":1,"b":{"c":2}}', count: 7 },
  { text: '"a,b:c[d{e"', count: 1 },
  { text: '["\\",[,", 2]', count: 3 },
])("counts $count in $text", ({ text, count }) => {
  expect(new JsonValueCount().add(bytes(text))).toBe(count);
});

test("is at least the number of values, however the text is cut", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 9 }), (value, pieceBytes) => {
      const text = bytes(JSON.stringify(value));
      const counter = new JsonValueCount();
      let count = 1;
      for (let at = 0; at < text.length; at += pieceBytes) {
        count = counter.add(text.subarray(at, at + pieceBytes));
      }
      expect(count).toBeGreaterThanOrEqual(valuesIn(value));
      expect(count).toBe(new JsonValueCount().add(text));
    }),
  );
});

function valuesIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return 1 + Object.values(value).reduce<number>((sum, each) => sum + valuesIn(each), 0);
}
