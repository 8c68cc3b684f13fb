import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LineCounter, parseDocument } from "yaml";
import { parseBoundedYaml, YamlTooDeep } from "./bounded-yaml.ts";

const nested: readonly (readonly [string, (depth: number) => string])[] = [
  ["lists in a line", (depth) => "- ".repeat(depth)],
  ["keys with a question mark", (depth) => "? ".repeat(depth)],
  ["flow lists", (depth) => "[".repeat(depth)],
  ["flow maps", (depth) => "{a: ".repeat(depth)],
  [
    "indented maps",
    (depth) => Array.from({ length: depth }, (_, n) => `${" ".repeat(n)}a:\n`).join(""),
  ],
];

describe.each(nested)("%s", (_, text) => {
  test("are refused above the limit, and not below it", () => {
    expect(() => parseBoundedYaml(text(20_000 / 10), 64, {})).toThrow(YamlTooDeep);
    expect(() => parseBoundedYaml(text(60), 64, {})).not.toThrow();
  });
});

test("returns what parseDocument returns", () => {
  const piece = fc.constantFrom(
    "a",
    ": ",
    "- ",
    "\n",
    "  ",
    "[",
    "]",
    "{",
    "}",
    ",",
    '"',
    "'",
    "#",
    "|",
    "---\n",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const text = pieces.join("");
      const [ours, theirs] = [new LineCounter(), new LineCounter()];
      const one = parseBoundedYaml(text, 100, { lineCounter: ours, prettyErrors: false });
      const other = parseDocument(text, { lineCounter: theirs, prettyErrors: false });

      expect(one.errors.map(({ code, pos }) => [code, pos])).toEqual(
        other.errors.map(({ code, pos }) => [code, pos]),
      );
      // parseDocument stops reading at the second document.
      const isWhole = other.errors.length === 0;
      const seen = isWhole ? ours.lineStarts : ours.lineStarts.slice(0, theirs.lineStarts.length);
      expect(seen).toEqual(theirs.lineStarts);
      const valueOf = (document: typeof one) => (document.errors.length > 0 ? "" : document.toJS());
      expect(valueOf(one)).toEqual(valueOf(other));
    }),
    { numRuns: 300, examples: [[["---\n", "---\n", "---\n", "---\n"]]] },
  );
});
