import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const document = readFileSync(join(root, "docs/security.md"), "utf8");

interface Line {
  readonly first: string;
  /** The cell of the column `test`. */
  readonly test: string;
  /** The cell of the column `gap`, if the table has one. */
  readonly gap: string;
}

/** Returns the lines of all tables of a Markdown document that have a column `test`. */
function linesWithTests(text: string): Line[] {
  const lines: Line[] = [];
  let columns: readonly string[] = [];
  for (const line of text.split("\n")) {
    if (!line.startsWith("|")) {
      columns = [];
      continue;
    }
    const cells = line
      .slice(1, line.lastIndexOf("|"))
      .split("|")
      .map((cell) => cell.trim());
    if (columns.length === 0) columns = cells;
    else if (columns.includes("test") && !/^-+$/.test(cells[0] ?? "")) {
      const cellOf = (column: string) => cells[columns.indexOf(column)] ?? "";
      lines.push({ first: cells[0] ?? "", test: cellOf("test"), gap: cellOf("gap") });
    }
  }
  return lines;
}

const lines = linesWithTests(document);

test("the threat model has a line for each asset, interface and defence", () => {
  expect(lines.length).toBeGreaterThan(40);
});

test.each(lines)("the tests of the line `$first` exist", ({ test: named, gap }) => {
  const paths = [...named.matchAll(/`((?:src|test)\/[^`]+)`/g)].map(([, path = ""]) => path);
  const refersToTests = paths.length > 0 || named.includes("the same");

  // Without a test, a line states a gap.
  expect(refersToTests || (named === "–" && gap !== "" && gap !== "–")).toBe(true);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
