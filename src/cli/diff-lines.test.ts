import { expect, test } from "vitest";
import type { CatalogDiff } from "#api/catalog.ts";
import { diffLines } from "./diff-lines.ts";
import { paintFor } from "./terminal/paint.ts";

const none = { added: [], removed: [], changed: [] };
const side = (written: string, first: string) => ({
  written,
  digest: `${first.repeat(64)}/9`,
  repository: null,
  branch: null,
});
const same: CatalogDiff = {
  a: side("main", "a"),
  b: side("work", "b"),
  same: true,
  jobs: none,
  edges: [],
  switches: none,
  switchValues: [],
  parameters: none,
  graphs: none,
};

test("each part that differs has a line, and each changed value one below it", () => {
  const diff: CatalogDiff = {
    ...same,
    same: false,
    jobs: {
      added: ["new"],
      removed: ["old"],
      changed: [
        {
          name: "unit",
          parts: [
            { path: "timeout", before: "5m", after: "9m" },
            { path: "retries", after: 2 },
            { path: "tags.slow", before: true },
          ],
        },
      ],
    },
    edges: [
      { job: "new", on: "build", before: null, after: "success" },
      { job: "unit", on: "build", before: "success", after: "end" },
    ],
    switchValues: [{ name: "pgo", before: false, after: true }],
  };

  expect(diffLines(diff, paintFor(false))).toEqual([
    "from main (aaaaaaaaaa) to work (bbbbbbbbbb)",
    "- job old",
    "+ job new",
    "~ job unit",
    "    timeout: 5m → 9m",
    "    retries: 2",
    "    tags.slow: on was removed",
    "+ edge build → new success",
    "~ edge build → unit: success → end",
    "~ switch pgo on the branch: off → on",
  ]);
});

test("of equal catalogs, that they are equal", () => {
  expect(diffLines(same, paintFor(false))).toEqual([
    "main (aaaaaaaaaa) and work (bbbbbbbbbb) are the same catalog.",
  ]);
});
