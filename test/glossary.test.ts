import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const mostEntries = 100;

interface Entry {
  readonly terms: readonly string[];
  readonly meaning: string;
}

/** The rows of all tables of GLOSSARY.md. A row defines one term, or several related terms. */
const entries: readonly Entry[] = readFileSync(join(import.meta.dirname, "../GLOSSARY.md"), "utf8")
  .split("\n")
  .flatMap((line) => {
    const row = /^\| \*\*(?<terms>.+?)\*\*(?: †)? \| (?<meaning>.+) \|$/.exec(line)?.groups;
    if (row === undefined) return [];
    return { terms: (row["terms"] ?? "").split(", "), meaning: row["meaning"] ?? "" };
  });

test("the glossary has at most 100 entries", () => {
  expect(entries.length).toBeGreaterThan(0);
  expect(entries.length).toBeLessThanOrEqual(mostEntries);
});

test("no term is defined twice", () => {
  const terms = entries.flatMap((entry) => entry.terms);

  expect(terms.filter((term, index) => terms.indexOf(term) !== index)).toEqual([]);
});

test("each meaning is a complete sentence", () => {
  expect(entries.filter(({ meaning }) => !/[.:`)]$/.test(meaning))).toEqual([]);
});
