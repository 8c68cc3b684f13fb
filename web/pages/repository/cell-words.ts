import type { GridCell } from "#api/commit-grid.ts";
import { stateWords } from "../../parts/state-words.ts";

const mostCharacters = 300;

/** Describes a cell: `unit/core: failed: expected 3, got 4`; `unit: 2 of 40 jobs failed, first unit/3: …`. */
export function cellWords({ column, job, jobs, failed, state, failure }: GridCell): string {
  const why = failure === null ? "" : `: ${failure}`;
  if (jobs === 1) return short(`${job}: ${stateWords[state]}${why}`);
  const name = column ?? "others";
  return failed > 0
    ? short(`${name}: ${failed} of ${jobs} jobs failed, first ${job}${why}`)
    : short(`${name}: ${jobs} jobs, ${stateWords[state]}`);
}

function short(text: string): string {
  return text.length <= mostCharacters ? text : `${text.slice(0, mostCharacters)}…`;
}
