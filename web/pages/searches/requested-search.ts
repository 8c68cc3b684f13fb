import type { StartSearch } from "#api/search.ts";
import type { SearchesSearch } from "./search.ts";

/** What only the form itself holds: it is of no use in a link. */
export interface SearchNumbers {
  readonly step: number;
  readonly parallel: number;
  readonly sameResults: number;
}

/** The search that the form asks for; undefined as long as something is missing. */
export function requestedSearch(
  { repository, kind = "bisect", selection = "", from = "", to = "" }: SearchesSearch,
  { step, parallel, sameResults }: SearchNumbers,
): StartSearch | undefined {
  if (repository === undefined || selection === "" || from === "" || to === "") return undefined;
  return kind === "backfill"
    ? { kind, repository, selection, from, to, step }
    : { kind, repository, selection, good: from, bad: to, parallel, sameResults };
}
