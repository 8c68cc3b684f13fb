import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseDocument } from "yaml";
import { z } from "zod";
import { readPlainYaml as read } from "./read-plain-yaml.ts";

const usual = `# yaml-language-server: $schema=../docs/schema/definitions.schema.json
version: 1
parameters:
  node: { type: list, default: [20, 24], description: Versions to test with }
jobs:
  lint: { commands: npm run lint }

  test/unit:   # the quick ones
    commands:
    - npm run build
    - 'it''s one'
    - "a\\tb \\"quoted\\""
    inputs: [src, test, "*.json", '!**/*.md']
    needs: {build: {outputs: dist, at: site}, lint: {on: end}}
    timeout: 10m
    retries: 1
    network: true
    environment: {CI: 1, VERSION: 1.2.3, FLAG: -x}
    script: |
      first
        deeper

      # not a comment
    last: |-
      one
    nothing:
    tags:
      - kind: test
        suite: unit
      - plain
      -
  each-\${version}:
    when: branch == 'main'
`;

const manual = readFileSync(join(import.meta.dirname, "../../docs/definitions.md"), "utf8");
const examples = [...manual.matchAll(/```yaml\n(.*?)```/gs)].map(([, example = ""]) => example);

function readPlainYaml(text: string) {
  const plain = read(text);
  return plain && { value: plain.value };
}

/** Returns the package's result; undefined when it reports an error. */
function wholly(text: string): { readonly value: unknown } | undefined {
  const document = parseDocument(text, { version: "1.2", prettyErrors: false, logLevel: "silent" });
  if (document.errors.length > 0) return undefined;
  try {
    return { value: document.toJS() };
  } catch {
    // Returns undefined for an alias without its anchor.
    return undefined;
  }
}

/** Compares with the package only texts that were read here, because the package is slow. */
function secondOpinion(text: string, first: ReturnType<typeof readPlainYaml>) {
  return first === undefined ? undefined : wholly(text);
}

test.each([usual, ...examples.slice(0, 3)])(
  "texts as people write them are read, with the same result as the package: %#",
  (text) => {
    expect(readPlainYaml(text)).toEqual(wholly(text));
  },
);

test.each([
  "a: &x 1\nb: *x\n",
  "a: >\n  folded\n  text\n",
  "a: one\n  two\n",
  "a: 1\na: 2\n",
  "a: !!str 1\n",
  "? a\n: b\n",
  "a:\tb\n",
  "- a\n",
  "a: [b\n",
  "a: |\n  1",
  "a: 0x10\n",
  "__proto__: 1\n",
  "---\na: 1\n---\nb: 1\n",
])("the rest is left to the package: %j", (text) => {
  expect(readPlainYaml(text)).toBeUndefined();
});

const pieces = [
  "\n",
  " ",
  "  ",
  ":",
  ": ",
  "- ",
  "#",
  " #",
  ",",
  "[",
  "]",
  "{",
  "}",
  '"',
  "'",
  "|",
  "|\n",
  "a",
  "b: c",
  "1",
  "-",
  "~",
  "\\",
  "&a ",
  "*a",
  "!",
  "%",
  "@",
  "?",
  "null",
  "true",
  ".5",
  "\n    ",
  "\n      ",
];

test("random texts are read with the same result as the package, or left to the package", () => {
  const change = fc.record({
    at: fc.nat(usual.length),
    remove: fc.nat(3),
    insert: fc.constantFrom("", ...pieces),
  });
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), fc.boolean(), (changes, cut) => {
      const changed = changes.reduce(
        (before, { at, remove, insert }) =>
          before.slice(0, at) + insert + before.slice(at + remove),
        usual,
      );
      const text = cut ? changed.trimEnd() : changed;
      const plainly = readPlainYaml(text);

      expect(plainly).toEqual(secondOpinion(text, plainly));
    }),
    { numRuns: 1_500 },
  );
});

test("jobs with equal texts in brackets share one value, also before a comment", () => {
  const text =
    "jobs:\n  a: {needs: [x]}\n  b: {needs: [x]}\n  c: {needs: [y]}\n  d: {needs: [x]} # last\nother:\n  a: {needs: [x]}\n";

  const value = z
    .record(z.string(), z.record(z.string(), z.custom<object>()))
    .parse(readPlainYaml(text)?.value);

  expect(value).toEqual(parseDocument(text).toJS());
  expect(value["jobs"]?.["b"]).toBe(value["jobs"]?.["a"]);
  expect(value["jobs"]?.["c"]).not.toBe(value["jobs"]?.["a"]);
});

test("a number with more than 1,000 digits is left to the package", () => {
  expect(readPlainYaml(`version: ${"1".repeat(2_000)}\n`)).toBeUndefined();
});

test.each(["version: 1", "jobs:\n  a: {needs: []}", "jobs:\n  a: x\n# the end"])(
  "a last line without its end is plain all the same: %j",
  (text) => {
    expect(readPlainYaml(text)).toEqual(wholly(text));
  },
);

test("short texts of special characters are read with the same result as the package, or left to it", () => {
  const signs = fc.array(fc.constantFrom(...pieces, "k: ", "k:\n", "k:\n  "), { maxLength: 12 });
  fc.assert(
    fc.property(signs, fc.constantFrom("\n", ""), (parts, end) => {
      const text = `k: ${parts.join("")}${end}`;
      const plainly = readPlainYaml(text);

      expect(plainly).toEqual(secondOpinion(text, plainly));
    }),
    { numRuns: 5_000 },
  );
});
