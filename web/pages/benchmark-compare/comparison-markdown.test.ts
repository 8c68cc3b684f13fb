import { expect, test } from "vitest";
import { madeUpCase, madeUpComparison } from "../../dev/made-up-comparison.ts";
import { comparisonMarkdown } from "./comparison-markdown.ts";

test("the visible rows become a table, and a name cannot leave its cell", () => {
  const comparison = madeUpComparison({ suite: "a|b" });
  const shown = [madeUpCase({ benchmark: "rxjs", profile: "check" }, { change: 0.021 })];

  const lines = comparisonMarkdown(comparison, shown, "http://farm/compare").split("\n");

  expect(lines[0]).toContain("a\\|b");
  const rows = lines.filter((line) => line.startsWith("| "));
  expect(rows).toHaveLength(2);
  expect(rows[1]).toContain("| rxjs check");
  expect(rows[1]).toContain("| +2.10 % |");
  expect(new Set(rows.map((row) => row.split(" | ").length))).toEqual(new Set([6]));
});
