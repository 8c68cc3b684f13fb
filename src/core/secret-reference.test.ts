import fc from "fast-check";
import { expect, test } from "vitest";
import { secretsIn, secretsText } from "./secret-reference.ts";

const reference = fc.record({
  name: fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,20}$/),
  id: fc.nat(),
  version: fc.nat(999_999),
});

test("what an action says of secrets is read as it was written, in the order of names", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(reference, { minLength: 1, maxLength: 16, selector: ({ name }) => name }),
      (references) => {
        const text = secretsText(references);
        expect(secretsText(secretsIn(text) ?? [])).toBe(text);
        expect(secretsText(references.toReversed())).toBe(text);
        expect(secretsIn(text)).toEqual(expect.arrayContaining(references));
      },
    ),
  );
});

test.each(["", "A", "A@1", "A@1.x", "A@1.1,", "../A@1.1", "A@-1.1", "A@1.1;B@1.1"])(
  "%j names no secrets",
  (text) => expect(secretsIn(text)).toBeUndefined(),
);
