import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fence } from "./fence.ts";
import { sentenceAsMarkdown } from "./foreign-text.ts";

const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ..."@octocat #12 GH-12 octo/demo#3 **b** _i_ `x` ``` ~~~ <img> <!-- --> | [a](b) ![c](d) https://x.test www.x.test a@b.test deadbeef \\ &lt; > - + 1. # \u202e \u200b\u0000".split(
          " ",
        ),
        "\n",
        "\n\n",
        "\t",
      ),
      fc.string({ unit: "binary" }),
    ),
  )
  .map((parts) => parts.join(" "));

describe("a sentence with foreign words", () => {
  test.each([
    ["Measures it soon, and that is all.", "Measures it soon, and that is all."],
    ["ask @octocat about #12", "ask `@octocat` about `#12`"],
    ["it has llvm, x86_64-linux, gcc", "it has llvm, `x86_64-linux`, gcc"],
    ["commit deadbeef1 or 1234567 fails", "commit `deadbeef1` or `1234567` fails"],
    ["see https://evil.test now", "see `https://evil.test` now"],
    ["GH-12 and gh-13", "`GH-12` and `gh-13`"],
    ["a\n\n# b", "a `#` b"],
  ])("%j reads %j", (sentence, text) => {
    expect(sentenceAsMarkdown(sentence)).toBe(text);
  });

  test("contains nothing outside of code spans that a forge interprets", () => {
    fc.assert(
      fc.property(hostile, (sentence) => {
        const text = sentenceAsMarkdown(sentence);
        // The spans first; the rest must be plain words.
        const outside = text.replaceAll(/`[^`\n]*`/g, "");

        expect(outside).not.toMatch(/[`@#<>*_[\]\\|~\n]|:\/\/|www\.|gh-\d|[0-9a-f]{7}/i);
        expect(text.length).toBeLessThan(5_000);
      }),
      { numRuns: 3_000 },
    );
  });
});

test("a block of code ends at the farm's own fence", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const lines = fence(text).split("\n");
      const signs = lines.at(-1) ?? "";

      expect(signs).toMatch(/^`{3,}$/);
      expect(lines[0]).toBe(`${signs}text`);
      expect(lines.slice(1, -1).some((line) => line.includes(signs))).toBe(false);
      expect(lines.join("")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    }),
    { numRuns: 1_000 },
  );
});
