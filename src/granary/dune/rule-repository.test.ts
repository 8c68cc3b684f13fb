import { expect, test } from "vitest";
import { repositoryOfRule, repositoryRoots } from "./rule-repository.ts";

const repositories = {
  all: ["/w", "/w/vendor/lib", "/w/vendor/lib/deep"],
  nested: ["/w/vendor/lib", "/w/vendor/lib/deep"],
};
const made = (...paths: string[]) => ({ files: paths.map((path) => ({ path })) });

test.each([
  { rule: made("default/bin/main.exe"), position: 0, why: "a source of the outer repository" },
  { rule: made("default/vendor/lib/a.cmx"), position: 1, why: "a source of a nested one" },
  { rule: made("default/vendor/lib/deep/a.cmx"), position: 2, why: "the innermost one counts" },
  { rule: made("default/vendor/library/a.cmx"), position: 0, why: "a name that begins alike" },
  { rule: { ...made("default/bin/a"), repository: 2 }, position: 2, why: "dune names one" },
  { rule: { ...made("default/vendor/lib/a"), repository: 0 }, position: 0, why: "dune names it" },
  { rule: { ...made("default/vendor/lib/a"), repository: 9 }, position: 1, why: "no such one" },
  { rule: made(), position: 0, why: "no output" },
  { rule: made("a.ml"), position: 0, why: "no directory" },
])("a rule belongs to repository $position: $why", ({ rule, position }) => {
  expect(repositoryOfRule(repositories, "/w/_build", rule)).toBe(position);
});

test("directories of repositories may be relative to the workspace", () => {
  const reported = ["/w", "vendor/lib", "."].map((directory) => ({ directory, commit: "" }));

  expect(repositoryRoots("/w/_build", reported)).toEqual(["/w", "/w/vendor/lib", "/w"]);
});
