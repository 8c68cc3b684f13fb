import { expect, test } from "vitest";
import { patternsFor } from "./patterns-for.ts";

const all = [
  "top.md",
  "src/a.ts",
  "src/b.ts",
  "src/c.ts",
  "src/x.md",
  "src/in/1",
  "src/in/2",
  "one/file",
  "[odd]",
];

test.each<[what: string, chosen: string[], patterns: string[]]>([
  ["nothing", [], []],
  ["single files", ["src/a.ts", "top.md"], ["top.md", "src/a.ts"]],
  ["a directory of which all is meant", ["src/in/1", "src/in/2"], ["src/in"]],
  ["all of one ending", ["src/a.ts", "src/b.ts", "src/c.ts"], ["src/*.ts"]],
  ["the only file of a directory", ["one/file"], ["one/file"]],
  ["a name that reads like a pattern", ["[odd]"], ["\\[odd\\]"]],
  ["a directory with all below it", all.filter((path) => path.startsWith("src/")), ["src"]],
])("%s", (_, chosen, patterns) => {
  expect(patternsFor(chosen, all)).toEqual(patterns);
});
