import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Fault } from "#core/fault.ts";
import { type Csexp, CsexpParser, encodeCsexp, parseCsexp } from "./csexp.ts";

const { expression } = fc.letrec<{ expression: Csexp }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 5 },
    fc.uint8Array({ maxLength: 30 }),
    fc.array(tie("expression"), { maxLength: 5 }),
  ),
}));

function plain(one: Csexp): unknown {
  return one instanceof Uint8Array ? Buffer.from(one).toString("hex") : one.map(plain);
}

test("an encoded expression is decoded unchanged", () => {
  fc.assert(
    fc.property(expression, (one) => {
      expect(plain(parseCsexp(encodeCsexp(one)))).toEqual(plain(one));
    }),
  );
});

test("the division of the bytes into chunks makes no difference", () => {
  fc.assert(
    fc.property(
      fc.array(expression, { maxLength: 4 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 20 }),
      (all, cuts) => {
        const bytes = Buffer.concat(all.map((one) => encodeCsexp(one)));
        const parser = new CsexpParser();
        const read: Csexp[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const size = cuts[turn % cuts.length] ?? 1;
          read.push(...parser.push(bytes.subarray(at, at + size)));
          at += size;
        }
        expect(read.map(plain)).toEqual(all.map(plain));
        expect(parser.isBetween).toBe(true);
      },
    ),
  );
});

test("any bytes are parsed or rejected, and a parsed expression is canonical", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[0-9:()a]{0,40}$/), (text) => {
      let again: string;
      try {
        again = encodeCsexp(parseCsexp(Buffer.from(text))).toString();
      } catch (reason) {
        again =
          reason instanceof Fault && reason.code === "invalid_argument" ? text : String(reason);
      }
      expect(again).toBe(text);
    }),
    { numRuns: 2_000 },
  );
});

describe("hostile bytes are rejected before they use memory:", () => {
  const limits = { atomBytes: 100, depth: 4, items: 10 };

  test.each([
    ["a length without end", "9".repeat(1_000)],
    ["an atom that is too long", "101:"],
    ["a length that begins with 0", "00:"],
    ["a negative length", "-1:a"],
    ["lists in lists", "(((((())))))"],
    ["many items", `(${"1:a".repeat(11)})`],
    ["many empty lists", `(${"()".repeat(11)})`],
    ["an end without a beginning", ")"],
    ["a blank", "(1:a 1:b)"],
    ["no colon", "(3abc)"],
  ])("%s", (_, text) => {
    expect(() => new CsexpParser(limits).push(Buffer.from(text))).toThrow(
      "this is not a canonical S-expression",
    );
  });

  test("limits apply to one expression, not to all input", () => {
    const parser = new CsexpParser(limits);

    expect(parser.push(Buffer.from("(1:a1:b)".repeat(50)))).toHaveLength(50);
  });
});
