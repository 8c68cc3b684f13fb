import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Fault } from "#core/fault.ts";
import { compileGlobs } from "./glob.ts";

const paths = [
  "README.md",
  ".env",
  "src/a.ts",
  "src/a.test.ts",
  "src/deep/b.ts",
  "src/deep/er/c.js",
  "docs/README.md",
  "docs/a[1].md",
  "packages/one/package.json",
  "packages/one/src/x.ts",
  "packages/two/package.json",
];

describe("patterns select files of a commit", () => {
  test.each<[string[], string[]]>([
    [[], paths],
    [["**"], paths],
    [["."], paths],
    [["*"], ["README.md", ".env"]],
    [["*.md"], ["README.md"]],
    [["**/*.md"], ["README.md", "docs/README.md", "docs/a[1].md"]],
    [["**/README.md"], ["README.md", "docs/README.md"]],
    [["src"], ["src/a.ts", "src/a.test.ts", "src/deep/b.ts", "src/deep/er/c.js"]],
    [["src/"], ["src/a.ts", "src/a.test.ts", "src/deep/b.ts", "src/deep/er/c.js"]],
    [["./src/deep"], ["src/deep/b.ts", "src/deep/er/c.js"]],
    [["src/*"], ["src/a.ts", "src/a.test.ts"]],
    [["src/**"], ["src/a.ts", "src/a.test.ts", "src/deep/b.ts", "src/deep/er/c.js"]],
    [["src/**/*.ts"], ["src/a.ts", "src/a.test.ts", "src/deep/b.ts"]],
    [["src/**/c.js"], ["src/deep/er/c.js"]],
    [["src/?.ts"], ["src/a.ts"]],
    [["src/[a-c].ts"], ["src/a.ts"]],
    [["src/[!b].ts"], ["src/a.ts"]],
    [["src/[^a].ts"], []],
    [["docs/a\\[1].md"], ["docs/a[1].md"]],
    [["docs/a[[]1[]].md"], ["docs/a[1].md"]],
    [["{README.md,docs}"], ["README.md", "docs/README.md", "docs/a[1].md"]],
    [
      ["packages/{one,two}/package.json"],
      ["packages/one/package.json", "packages/two/package.json"],
    ],
    [["packages/*{one,two}"], []],
    [["packages/*/src"], ["packages/one/src/x.ts"]],
    [
      ["{src,packages/{one,x}}/**/*.ts"],
      ["src/a.ts", "src/a.test.ts", "src/deep/b.ts", "packages/one/src/x.ts"],
    ],
    [["README.md/"], []],
    [
      ["src", "!**/*.test.ts"],
      ["src/a.ts", "src/deep/b.ts", "src/deep/er/c.js"],
    ],
    [
      ["!packages", "!src", "!docs"],
      ["README.md", ".env"],
    ],
    [["**", "!src", "src/deep"], paths.filter((p) => !p.startsWith("src/a"))],
    [["nothing"], []],
    [["SRC"], []],
  ])("%j", (patterns, expected) => {
    expect(paths.filter(compileGlobs(patterns))).toEqual(expected);
  });
});

test.each([
  ["", "empty"],
  ["!", "empty"],
  ["/etc", "slash"],
  ["../x", '".."'],
  ["a/../b", '".."'],
  ["a[", '"["'],
  ["a[]", '"["'],
  ["[z-a]", "backwards"],
  ["[a/b]", '"/"'],
  ["{a,b", '"{"'],
  ["{".repeat(500), "nested"],
  ["a\\", "backslash"],
  ["x".repeat(20_000), "characters"],
])("%#: a bad pattern is refused", (pattern, why) => {
  expect(() => compileGlobs([pattern])).toThrow(why);
});

describe("the automaton", () => {
  const name = fc.constantFrom("a", "b", "ab", "*", "?", "[ab]", "[!a]", "a*", "{a,b*}", "{a/b,b}");
  const pattern = fc
    .array(fc.oneof({ weight: 3, arbitrary: name }, fc.constant("**")), {
      minLength: 1,
      maxLength: 5,
    })
    .map((names) => names.join("/"));
  const path = fc
    .array(fc.constantFrom("a", "b", "ab", "ba", "😀"), { minLength: 1, maxLength: 5 })
    .map((names) => names.join("/"));

  test("agrees with a backtracking matcher", () => {
    fc.assert(
      fc.property(pattern, path, (p, text) => {
        expect(compileGlobs([p])(text)).toBe(naively(p, text));
      }),
      { numRuns: 20_000 },
    );
  });

  test("accepts or rejects any text, and never fails otherwise", () => {
    const sign = fc.constantFrom("a", "b", "/", "*", "?", "[", "]", "{", "}", ",", "!", "-", "\\");
    fc.assert(
      fc.property(fc.string({ unit: sign }), path, (p, some) => {
        expect([true, false, "refused"]).toContain(matchesOrRefuses(p, some));
      }),
      { numRuns: 20_000 },
    );
  });

  test.each([
    ["stars", `${"*a".repeat(500)}b`, "a"],
    ["stars of directories", `${"**/a*/".repeat(150)}b`, "a/"],
    ["braces", `${"{a,a}".repeat(200)}b`, "a"],
    ["nested stars", "{*,{*,{*,{*,*}*}*}*}".repeat(50), "a"],
  ])("comes to an end for hostile %s", (_, hostile, piece) => {
    // Fast in linear time; a backtracking matcher would not end within the test's timeout.
    expect(typeof compileGlobs([hostile])(piece.repeat(2_000))).toBe("boolean");
  });
});

function matchesOrRefuses(pattern: string, path: string): boolean | "refused" {
  try {
    return compileGlobs([pattern])(path);
  } catch (reason) {
    if (reason instanceof Fault) return "refused";
    throw reason;
  }
}

/** Expands braces, then backtracks. Correct because it is short, but exponential. */
function naively(pattern: string, path: string): boolean {
  const all = expand(pattern).map((plain) => plain.split("/"));
  const isPlain = all.every((names) => !/[*?[]/.test(names.at(-1) ?? ""));
  return all.some((names) => fits(names, path) || (isPlain && fits([...names, "**"], path)));
}

function expand(pattern: string): string[] {
  const brace = /^(.*?)\{([^{}]*)\}(.*)$/.exec(pattern);
  if (!brace) return [pattern];
  const [, before = "", inside = "", after = ""] = brace;
  return inside.split(",").flatMap((one) => expand(before + one + after));
}

function fits(names: readonly string[], path: string): boolean {
  const [name, ...others] = names;
  const [first = "", ...rest] = path.split("/");
  if (name === "**") {
    if (others.length === 0) return true;
    return fits(others, path) || (rest.length > 0 && fits(names, rest.join("/")));
  }
  if (!nameFits(Array.from(name ?? ""), Array.from(first))) return false;
  if (others.length === 0) return rest.length === 0;
  return rest.length > 0 && fits(others, rest.join("/"));
}

function nameFits(pattern: readonly string[], text: readonly string[]): boolean {
  const [sign, ...others] = pattern;
  if (sign === undefined) return text.length === 0;
  if (sign === "*")
    return nameFits(others, text) || (text.length > 0 && nameFits(pattern, text.slice(1)));
  if (text.length === 0) return false;
  if (sign === "[") {
    const end = pattern.indexOf("]");
    const set = pattern.slice(1, end);
    const isIn = set[0] === "!" ? !set.includes(text[0] ?? "") : set.includes(text[0] ?? "");
    return isIn && nameFits(pattern.slice(end + 1), text.slice(1));
  }
  return (sign === "?" || sign === text[0]) && nameFits(others, text.slice(1));
}
