import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import { fromAttributes, toAttributes } from "./entry-attributes.ts";

const names = fc.stringMatching(/^x-[a-z0-9-]{1,20}$/).filter((name) => !name.includes("duration"));
const texts = fc.stringMatching(/^[ -~]{0,40}$/);
const blobs = fc.array(fc.nat(20).map((n) => digestOf(Buffer.from(`blob ${n}`))));

test("a granary's information about a result is unchanged when it is read again", () => {
  fc.assert(
    fc.property(
      fc.dictionary(names, texts, { maxKeys: 5 }),
      blobs,
      fc.option(fc.nat(1_000_000), { nil: undefined }),
      (attributes, named, costMs) => {
        const said = { attributes: { ...attributes }, blobs: named, costMs };

        expect(fromAttributes(toAttributes(said))).toEqual(said);
      },
    ),
  );
});

test("the task duration that Turborepo reports becomes the cost", () => {
  expect(fromAttributes({ "x-artifact-duration": "1200" })).toMatchObject({ costMs: 1_200 });
  expect(fromAttributes({ "x-artifact-duration": "soon" })).toMatchObject({ costMs: undefined });
});

describe("rejects", () => {
  const said = { attributes: {}, blobs: [], costMs: undefined };
  test.each([
    ["a header within a header", { "x-tag": "a\r\nset-cookie: b" }],
    ["a name that no header has", { "x tag": "a" }],
    ["text beyond ASCII", { "x-tag": "ä" }],
    ["an endless text", { "x-tag": "a".repeat(2_000) }],
    ["a crowd", Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`x-${n}`, ""]))],
  ])("%s", (_, attributes) => {
    expect(() => toAttributes({ ...said, attributes })).toThrow(/attribute/);
  });

  test("an attribute with Grange's own name is ignored", () => {
    expect(toAttributes({ ...said, attributes: { "grange-cost-ms": "1" } })).toEqual({});
  });
});
