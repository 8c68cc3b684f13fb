import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fitsStars } from "#core/star-pattern.ts";
import { formatSelection } from "./format-selection.ts";
import { matches, type SelectableJob } from "./matches.ts";
import { parseSelection } from "./parse-selection.ts";
import { allOf, anyOf, asksAbout, not, type Selection, type WordPattern } from "./selection.ts";
import { SelectionProblem } from "./selection-problem.ts";

const talos: SelectableJob = {
  name: "win32/talos-1",
  tags: { platform: "win32", pgo: "true", suite: "talos", kind: "b2g" },
  kind: "command",
  state: "failed",
};
const lint: SelectableJob = { name: "lint", tags: {}, kind: "command", state: "failed" };

describe("a selection", () => {
  test.each([
    { text: "kind:b2g", selects: [talos] },
    { text: "kind:command", selects: [lint] },
    { text: "platform:win32 & pgo & talos", selects: [talos] },
    { text: "platform:win32 pgo talos", selects: [talos] },
    { text: "win32 and pgo and talos", selects: [talos] },
    { text: "win32 AND not pgo or lint", selects: [lint] },
    { text: '"and" or lint', selects: [lint] },
    { text: "command | name:and", selects: [] },
    { text: "platform:win32 && !pgo", selects: [] },
    { text: "state:failed & !name:lint", selects: [talos] },
    { text: "state:fail*", selects: [talos, lint] },
    { text: "lint | win32/*", selects: [talos, lint] },
    { text: "!(lint | talos)", selects: [] },
    { text: "!lint talos | lint", selects: [talos, lint] },
    { text: '"lint"', selects: [lint] },
    { text: '"*"', selects: [] },
    { text: "*", selects: [talos, lint] },
    { text: "l*t", selects: [lint] },
    { text: "suite:*", selects: [talos] },
    { text: "constructor:*", selects: [] },
  ])("$text", ({ text, selects }) => {
    const selection = parseSelection(text);

    expect([talos, lint].filter((job) => matches(selection, job))).toEqual(selects);
  });

  test.each([
    { text: "", column: 1, says: "it is empty; name a job, a tag's value or KEY:VALUE" },
    { text: "a &", column: 4, says: "something is missing at its end" },
    { text: "a | | b", column: 5, says: 'there is nothing before "|"' },
    { text: "a and or b", column: 7, says: 'there is nothing before "|"' },
    { text: "a and", column: 6, says: "something is missing at its end" },
    { text: "(a b", column: 1, says: "this bracket is never closed" },
    { text: "a)", column: 2, says: "this bracket was never opened" },
    { text: 'a "b', column: 3, says: "this quote is never closed" },
    { text: "kind: b2g", column: 6, says: '"kind:" has no value; write kind:VALUE' },
    { text: ":b", column: 1, says: "there is no key before the colon" },
    { text: "k*d:b", column: 1, says: "a key cannot have a star" },
    { text: "a & state:faild", column: 5, says: "the states are inactive, blocked," },
    { text: "!".repeat(200), column: 102, says: "more than 100 levels deep" },
    { text: "a".repeat(20_000), column: 16_385, says: "more than 16384" },
  ])("$text is refused where it is wrong", ({ text, column, says }) => {
    const reading = () => parseSelection(text);

    expect(reading).toThrow(SelectionProblem);
    expect(reading).toThrow(expect.objectContaining({ column }));
    expect(reading).toThrow(says);
  });

  test("tells which keys it asks about", () => {
    const selection = parseSelection("a & !(b | state:failed)");

    expect(asksAbout(selection, "state")).toBe(true);
    expect(asksAbout(selection, "kind")).toBe(false);
  });
});

const text = fc.string({ maxLength: 6 });
const pattern: fc.Arbitrary<WordPattern> = fc
  .array(fc.constantFrom("", "a", "b:", "*", '"', "\\", " c", "win32"), {
    minLength: 1,
    maxLength: 4,
  })
  // Consecutive stars are one.
  .map((parts) => parts.filter((part, i) => part !== "" || i === 0 || i === parts.length - 1))
  .map(([first = "", ...others]): WordPattern => [first, ...others]);
const { any } = fc.letrec<{ any: Selection }>((tie) => ({
  any: fc.oneof(
    { depthSize: "small" },
    pattern.map((word): Selection => ({ op: "word", pattern: word })),
    fc
      .tuple(
        text.filter((key) => key !== "" && key !== "state"),
        pattern,
      )
      .map(([key, value]): Selection => ({ op: "key", key, pattern: value })),
    tie("any").map(not),
    fc.tuple(tie("any"), tie("any")).map(([a, b]) => allOf(a, b)),
    fc.tuple(tie("any"), tie("any")).map(([a, b]) => anyOf(a, b)),
  ),
}));
const job: fc.Arbitrary<SelectableJob> = fc.record({
  name: fc.constantFrom("a", "b:", "win32", "win32/a"),
  tags: fc.dictionary(text, fc.constantFrom("true", "win32", "a")),
  kind: fc.constantFrom("command", "join"),
  state: fc.constantFrom("failed", "ready"),
});

describe("for every selection", () => {
  test("what is printed is read as the same", () => {
    fc.assert(
      fc.property(any, (selection) => {
        expect(parseSelection(formatSelection(selection))).toEqual(selection);
      }),
    );
  });

  test("De Morgan holds", () => {
    fc.assert(
      fc.property(any, any, job, (a, b, one) => {
        expect(matches(not(allOf(a, b)), one)).toBe(matches(anyOf(not(a), not(b)), one));
        expect(matches(not(anyOf(a, b)), one)).toBe(matches(allOf(not(a), not(b)), one));
      }),
    );
  });

  test("any text is read, or refused with its column", () => {
    const signs = fc.string({
      unit: fc.constantFrom(
        "a",
        "b",
        ":",
        "*",
        "!",
        "&",
        "|",
        "(",
        ")",
        "'",
        '"',
        "\\",
        " ",
        "state",
      ),
    });
    fc.assert(
      fc.property(fc.oneof(fc.string(), signs), (anything) => {
        const read = selectionOrProblem(anything);
        const readAgain = read instanceof Error ? read : parseSelection(formatSelection(read));
        expect(readAgain).toEqual(read);
        expect(read instanceof Error).toBe(read instanceof SelectionProblem);
      }),
      { numRuns: 2_000 },
    );
  });
});

function selectionOrProblem(written: string): Selection | Error {
  try {
    return parseSelection(written);
  } catch (reason) {
    return reason instanceof Error ? reason : new Error(String(reason));
  }
}

describe("a pattern with stars", () => {
  test("matches what the same regular expression matches", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 8 });
    const parts = fc.array(fc.constantFrom("", "a", "b", "ab"), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(parts, letters, ([first = "", ...others], word) => {
        const expected = new RegExp(`^${[first, ...others].join(".*")}$`).test(word);
        expect(fitsStars([first, ...others], word)).toBe(expected);
      }),
    );
  });

  test("does not go back: ten thousand stars against ten thousand letters take no time", () => {
    const hostile = parseSelection(`${"a*".repeat(8_000)}b`);
    const name = "a".repeat(10_000);

    const begun = performance.now();
    matches(hostile, { name, tags: {}, kind: "command", state: "ready" });

    expect(performance.now() - begun).toBeLessThan(5_000);
  });
});

test("stars with empty quotes between them mean the same as one star", () => {
  expect(parseSelection('a*""*b')).toEqual(parseSelection("a*b"));
});
