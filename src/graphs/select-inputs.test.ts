import { expect, test } from "vitest";
import { selectInputs } from "./select-inputs.ts";

const commit = ["package.json", "src/a.ts", "src/a.md"].map((path) => ({ path }));
const read = (patterns: readonly string[] | undefined) =>
  selectInputs(commit, patterns).map(({ path }) => path);

test("a job without `inputs` reads all files", () => {
  expect(read(undefined)).toEqual(["package.json", "src/a.ts", "src/a.md"]);
});

test("a job with empty `inputs` reads nothing", () => {
  expect(read([])).toEqual([]);
});

test("a first pattern that excludes means all files except those", () => {
  expect(read(["!**/*.md"])).toEqual(["package.json", "src/a.ts"]);
});

test("a name that is not in the commit is rejected, with the similar one", () => {
  expect(() => read(["pakage.json"])).toThrow(/"pakage.json" is not in the commit.*package\.json/);
});
