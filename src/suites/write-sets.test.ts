import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { writeSets } from "./write-sets.ts";

const text = `compile:
  benchmarks:
    # The first.
    one:
      category: primary # and foremost
      set: 1
    "@two/two": { category: secondary }
    three:
    four: {}
    five:
      # Before all else.
      category: primary
`;

test("only the numbers change", () => {
  const moves = ["one", "@two/two", "three", "four", "five"].map((benchmark, i) => ({
    benchmark,
    to: i + 2,
  }));

  expect(writeSets(text, moves)).toBe(`compile:
  benchmarks:
    # The first.
    one:
      category: primary # and foremost
      set: 2
    "@two/two": { set: 3, category: secondary }
    three: { set: 4 }
    four: { set: 5 }
    five:
      # Before all else.
      set: 6
      category: primary
`);
});

test("a benchmark that the file does not contain is reported", () => {
  expect(() => writeSets(text, [{ benchmark: "six", to: 0 }])).toThrow("has no benchmark six");
});

test("the included suite can be rewritten", async () => {
  const own = await readFile(
    join(import.meta.dirname, "../../.grange/bench/typescript.yml"),
    "utf8",
  );
  const names = Object.keys(parse(own).compile.benchmarks);

  const changed = parse(
    writeSets(
      own,
      names.map((benchmark) => ({ benchmark, to: 7 })),
    ),
  );

  expect(names.map((name) => changed.compile.benchmarks[name].set)).toEqual(names.map(() => 7));
});
