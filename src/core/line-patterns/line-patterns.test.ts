import fc from "fast-check";
import { RE2JS } from "re2js";
import { describe, expect, test } from "vitest";
import { compilePattern } from "./compiled-pattern.ts";
import { LineMatcher } from "./line-matcher.ts";
import { sizeBeforeBuilding } from "./size-before-building.ts";

function matches(pattern: string, line: string): boolean {
  return new LineMatcher([compilePattern(pattern)]).in(line).includes(0);
}

describe("a pattern", () => {
  test.each([
    { pattern: "^ALL TESTS PASSED$", line: "ALL TESTS PASSED" },
    { pattern: "^coverage: ([0-9.]+)%", line: "coverage: 71.2% of lines" },
    { pattern: "(?i)segmentation FAULT", line: "Segmentation fault (core dumped)" },
    { pattern: "\\berror\\b", line: "an error: no" },
    { pattern: "a{2,3}$", line: "baaa" },
    { pattern: "[^a-z\\s]+", line: "abc D" },
    { pattern: "x|y|", line: "" },
    { pattern: "(?:ab)*?c", line: "ababc" },
    { pattern: "\\u20ac\\x41", line: "€A" },
    { pattern: "(?<name>é)", line: "café" },
    { pattern: "🙂+", line: "a 🙂" },
    { pattern: "a{,2}", line: "a{,2}" },
    { pattern: "^.[🙂é]$", line: "🙂🙂" },
    { pattern: "no (?i:FAULT)", line: "no fault" },
  ])("$pattern is found in “$line”", ({ pattern, line }) => {
    expect(matches(pattern, line)).toBe(true);
  });

  test.each([
    { pattern: "^PASSED", line: "ALL PASSED" },
    { pattern: "\\berror\\b", line: "errors" },
    { pattern: "a{3}", line: "aab" },
    { pattern: "[^a-z]", line: "abc" },
    { pattern: "\\Berror", line: "error" },
  ])("$pattern is not found in “$line”", ({ pattern, line }) => {
    expect(matches(pattern, line)).toBe(false);
  });

  test.each([
    { pattern: "(a)\\1", why: "back reference" },
    { pattern: "(?=a)b", why: "lookahead and lookbehind" },
    { pattern: "(?<!a)b", why: "lookahead and lookbehind" },
    { pattern: "((a{1,100}){1,100}){1,100}", why: "too large" },
    { pattern: "((((){1000}){1000}){1000})", why: "too large" },
    { pattern: "(a{1,1000}){1,1000}", why: "too large" },
    { pattern: "(a{40}){40}", why: "more than 1000 times" },
    { pattern: ".{501}", why: "too large" },
    { pattern: "(?:\\x{41}[^]a{]){600}", why: "too large" },
    { pattern: "a{5000}", why: "too large" },
    { pattern: "a**", why: "repetition is repeated" },
    { pattern: "(a", why: "not closed" },
    { pattern: "a)", why: "closes nothing" },
    { pattern: "[a", why: "not closed" },
    { pattern: "[z-a]", why: "wrong order" },
    { pattern: "+a", why: "nothing before it" },
    { pattern: "\\q", why: "not supported" },
    { pattern: "\\pL", why: "not supported" },
    { pattern: "\\Qa.b\\E", why: "not supported" },
    { pattern: "[[:odd:]]", why: "not supported" },
    { pattern: "(?>a)", why: "(?> is not supported" },
    { pattern: "(?<n>a)\\k<n>", why: "back reference" },
    { pattern: "(?P<n>a)(?P=n)", why: "(?P is not supported" },
    { pattern: "(?<n>a)(?<n>b)", why: "two groups are named n" },
    { pattern: "a{3,2}", why: "wrong order" },
    { pattern: "a\\", why: "ends with a backslash" },
    { pattern: "", why: "empty" },
    { pattern: "(".repeat(80), why: "too deeply" },
    { pattern: "a".repeat(501), why: "more than 500" },
  ])("$pattern is refused, and it is said why", ({ pattern, why }) => {
    expect(() => compilePattern(pattern)).toThrow(why);
  });
});

/** Patterns and lines over few letters, so that they match often. */
const atom = fc.oneof(
  fc.constantFrom("a", "b", ".", "[ab]", "[^a]", "\\w", " ", "^", "$", "\\b", "\\B"),
);
const { pattern } = fc.letrec<{ pattern: string; piece: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 3 },
    tie("piece"),
    fc.tuple(tie("piece"), tie("pattern")).map(([a, b]) => a + b),
    fc.tuple(tie("pattern"), tie("pattern")).map(([a, b]) => `(?:${a}|${b})`),
  ),
  piece: fc.oneof(
    { maxDepth: 3 },
    atom,
    fc
      .tuple(tie("pattern"), fc.constantFrom("*", "+", "?", "*?", "+?", "{0,2}", "{2}"))
      .map(([a, times]) => `(${a})${times}`),
    tie("pattern").map((a) => `(${a})`),
  ),
}));
const line = fc.string({ unit: fc.constantFrom("a", "b", " ", "é"), maxLength: 12 });

test("many patterns at once find what JavaScript's own engine finds one by one", () => {
  fc.assert(
    fc.property(
      fc.array(pattern, { minLength: 1, maxLength: 5 }),
      fc.array(line, { minLength: 1, maxLength: 4 }),
      (patterns, lines) => {
        const matcher = new LineMatcher(patterns.map(compilePattern));
        for (const each of lines) {
          const expected = patterns.flatMap((one, at) => (new RegExp(one).test(each) ? [at] : []));
          expect(matcher.in(each)).toEqual(expected);
        }
      },
    ),
    { numRuns: 500 },
  );
});

test.each([
  { pattern: "took ([0-9.]+) s", line: "it took 3.5 s, then took 9 s", group: "3.5" },
  { pattern: "(a+?)(b*)", line: "caabb", group: "a" },
  { pattern: "(\\d+)$", line: "12 34", group: "34" },
  { pattern: "\\d+", line: "n=42;", group: "42" },
  { pattern: "(?:(x)|y)", line: "y", group: undefined },
  { pattern: "(a|ab)(c|bcd)", line: "abcd", group: "a" },
])(
  "the first group of $pattern in “$line” is $group",
  ({ pattern: written, line: text, group }) => {
    expect(compilePattern(written).firstGroup(text)).toBe(group);
    const expected = new RegExp(written).exec(text);
    expect(expected?.[written.includes("(") ? 1 : 0]).toBe(group);
  },
);

describe("a hostile pattern", () => {
  // Each of these takes a backtracking engine minutes to years on its line.
  test.each([
    { pattern: "(a+)+$", line: `${"a".repeat(4_000)}!`, group: undefined },
    { pattern: "(a|aa)*b", line: "a".repeat(4_096), group: undefined },
    { pattern: "(.*)*x(.*)*y", line: "x".repeat(4_096), group: undefined },
    { pattern: "a*a*a*a*a*a*a*a*b", line: "a".repeat(4_096), group: undefined },
    { pattern: "(x?){100}", line: "x".repeat(4_096), group: "x" },
  ])("$pattern is answered at once", ({ pattern: written, line: text, group }) => {
    expect(matches(written, text)).toBe(group !== undefined);
    expect(compilePattern(written).firstGroup(text)).toBe(group);
  });

  test("that needs exponentially many states is still answered, and rightly", () => {
    // A deterministic automaton for this has 2^200 states.
    const matcher = new LineMatcher([compilePattern("[ab]*a[ab]{200}$")]);
    let state = 1;
    const random = Array.from({ length: 4_096 }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state >>> 31 === 0 ? "a" : "b";
    });

    for (let end = 4_090; end < random.length; end++) {
      const fits = random[end - 201] === "a";
      expect(matcher.in(random.slice(0, end).join(""))).toEqual(fits ? [0] : []);
    }
  });

  test("is not built to see how large it is", () => {
    const numbered = fc
      .tuple(pattern, pattern, fc.nat(30), fc.nat(30))
      .map(([a, b, least, more]) => `(?:${a}){${least},${least + more}}(${b}){${least}}|(?:${a})+`);

    fc.assert(
      fc.property(numbered, (written) => {
        fc.pre(written.length <= 500);
        const { steps } = sizeBeforeBuilding(written);
        expect(RE2JS.compile(written).programSize()).toBeLessThanOrEqual(1.5 * steps + 2);
      }),
      { numRuns: 500 },
    );
  });
});
