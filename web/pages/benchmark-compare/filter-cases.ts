import type { CaseComparison } from "#api/benchmark-comparison.ts";
import { caseTitle } from "../benchmarks/case-words.ts";
import { type CompareSearch, type Facet, facets } from "../benchmarks/search.ts";
import { statedChange } from "./verdict-words.ts";

/** Returns the existing words of a facet, for a selection list. */
export function wordsOf(cases: readonly Pick<CaseComparison, "case">[], facet: Facet): string[] {
  return [...new Set(cases.map((each) => each.case[facet]))].filter((word) => word !== "").sort();
}

/** Whether a row is shown, by the filters in the address. By default: relevant and undecided rows. */
export function isShown(of: CaseComparison, search: CompareSearch): boolean {
  if (facets.some((facet) => search[facet] !== undefined && of.case[facet] !== search[facet])) {
    return false;
  }
  if (search.category !== undefined && of.category !== search.category) return false;
  if (search.only !== undefined && of.verdict !== search.only) return false;
  if (!isFound(of, search.find ?? "")) return false;
  return (
    search.all !== undefined ||
    // A filter for one kind of verdict, or for open ones, shows all of its rows.
    (search.only !== undefined && search.only !== "regressed" && search.only !== "improved") ||
    of.relevant
  );
}

function isFound(of: CaseComparison, text: string): boolean {
  const title = caseTitle(of.case).toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => title.includes(word));
}

/** Orders by the largest change first; equal ones by name. A change from zero is the largest. */
export function byChange(a: CaseComparison, b: CaseComparison): number {
  const size = (of: CaseComparison, change = statedChange(of)) =>
    change === null ? Number.POSITIVE_INFINITY : Math.abs(change);
  if (size(a) !== size(b)) return size(b) - size(a);
  return caseTitle(a.case).localeCompare(caseTitle(b.case));
}
