import type { JobSummary } from "#api/graph.ts";
import { matches } from "#api/selection/matches.ts";
import { parseSelection } from "#api/selection/parse-selection.ts";
import type { Selection } from "#api/selection/selection.ts";
import { SelectionProblem } from "#api/selection/selection-problem.ts";

/** The parsed content of the filter field. */
export type JobFilter =
  | { readonly kind: "all" }
  /** Words that must all occur in the name, a tag or the reason. */
  | { readonly kind: "words"; readonly words: readonly string[] }
  /** The farm's own grammar: the visible jobs are exactly those of a command with this selection. */
  | { readonly kind: "selection"; readonly selection: Selection }
  | { readonly kind: "problem"; readonly problem: string };

/** Plain words search while the user types; the signs of the grammar make it a selection. */
export function readJobFilter(text: string): JobFilter {
  if (text.trim() === "") return { kind: "all" };
  if (!/[:&|!()*"]/.test(text)) {
    return { kind: "words", words: text.toLowerCase().split(/\s+/).filter(Boolean) };
  }
  try {
    return { kind: "selection", selection: parseSelection(text) };
  } catch (reason) {
    if (reason instanceof SelectionProblem) return { kind: "problem", problem: reason.message };
    throw reason;
  }
}

export function isWanted(filter: JobFilter, job: JobSummary): boolean {
  switch (filter.kind) {
    case "all":
    // An incomplete selection hides nothing; the page shows the missing part.
    case "problem":
      return true;
    case "words": {
      const text = [job.name, job.reason ?? "", ...Object.values(job.tags)].join(" ").toLowerCase();
      return filter.words.every((word) => text.includes(word));
    }
    case "selection":
      return matches(filter.selection, job);
  }
}
