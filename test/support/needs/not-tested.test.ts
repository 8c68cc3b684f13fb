import { expect, test } from "vitest";
import type { Lack } from "./needs.ts";
import { notTestedLines } from "./not-tested.ts";

const lack = (name: string, remedy: Lack["remedy"]): Lack => ({ name, missing: "none", remedy });
const bazel = lack("Bazel", { kind: "debian", packages: ["bazel-bootstrap", "zip"] });
const zip = lack("zip", { kind: "debian", packages: ["zip"] });
const root = lack("root", { kind: "root" });

test("a run without skipped tests has no summary", () => {
  expect(notTestedLines([])).toEqual([]);
});

test("the summary counts tests by their missing needs, and names each package once", () => {
  const skipped = [
    { title: "a", lacks: [bazel] },
    { title: "b", lacks: [zip, bazel] },
    { title: "c", lacks: [root] },
  ];

  expect(notTestedLines(skipped)).toEqual([
    "NOT TESTED on this machine: 3 tests, which need",
    "  Bazel (none): 2 tests",
    "  root (none): 1 test",
    "  zip (none): 1 test",
    "To run more of them: apt-get install bazel-bootstrap zip",
    "To run more of them: run the tests as root",
  ]);
});

test("a test that was excluded by name does not count as a missing need", () => {
  expect(notTestedLines([{ title: "a", lacks: [] }])).toEqual([]);
});
