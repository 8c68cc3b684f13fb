import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "./canonical-json.ts";

test("the order of keys is not seen, the order of lists is", () => {
  expect(canonicalJson({ b: [1, 2], a: { d: null, c: "x" } })).toBe(
    '{"a":{"c":"x","d":null},"b":[1,2]}',
  );
  expect(canonicalJson([2, 1])).not.toBe(canonicalJson([1, 2]));
});

test("what is undefined is not there", () => {
  expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}');
  expect(canonicalJson([undefined, 1])).toBe("[null,1]");
});

test("whatever JSON can say, it says", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});
