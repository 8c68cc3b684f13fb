import { expect, test } from "vitest";
import { planRemoteBuild } from "./remote-actions.ts";

const files = [
  "README.md",
  "c/count_words.c",
  "c/split_words.c",
  "c/word_table.c",
  "c/word_table.h",
  "js/main.mjs",
  "package.json",
  "texts/bread.txt",
  "texts/rules.txt",
  "tools/make-index.mjs",
];

test("without a compiler, only what Node can run is built", () => {
  const planned = planRemoteBuild(files, { hasCompiler: false });

  expect(planned.map(({ target }) => target)).toEqual([
    "//texts:bread",
    "//texts:rules",
    "//texts:index",
  ]);
});

test("each action reads files of the commit, or what an action before it makes", () => {
  const made = new Set(files);
  for (const { inputs, outputs } of planRemoteBuild(files, { hasCompiler: true })) {
    expect(inputs.filter((input) => !made.has(input))).toEqual([]);
    for (const output of outputs) made.add(output);
  }
  expect(made).toContain("build/count_words");
});
