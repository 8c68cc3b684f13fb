import { expect, test } from "vitest";
import { selectInputs } from "./select-inputs.ts";

const commit = ["package.json", "src/a.ts", "src/a.md"].map((path) => ({ path }));
const read = (patterns: readonly string[] | undefined) =>
  selectInputs(commit, patterns).map(({ path }) => path);

test("a job that does not say what it reads, reads all files", () => {
  expect(read(undefined)).toEqual(["package.json", "src/a.ts", "src/a.md"]);
});

test("a job that says it reads nothing, reads nothing", () => {
  expect(read([])).toEqual([]);
});

test("a first pattern that leaves out means all but that", () => {
  expect(read(["!**/*.md"])).toEqual(["package.json", "src/a.ts"]);
});

test("a name that is not in the commit is refused, with the one that was meant", () => {
  expect(() => read(["pakage.json"])).toThrow(/"pakage.json" is not in the commit.*package\.json/);
});
