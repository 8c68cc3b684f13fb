import type { ResultSource } from "#api/granary.ts";

export { becauseAdvice, indexWords, lateReasonTexts } from "#api/granary-words.ts";
export { countText, shareText } from "../../parts/share-text.ts";

/** In the order of the bars: from the cheapest source to the most expensive. */
export const sources = [
  "local",
  "prefetched",
  "fetched",
  "missed",
  "unreachable",
] as const satisfies readonly ResultSource[];

export const sourceWords: Readonly<Record<ResultSource, string>> = {
  local: "was here",
  prefetched: "fetched in time",
  fetched: "fetched late",
  missed: "missed",
  unreachable: "farm not available",
};

export const sourceSentences: Readonly<Record<ResultSource, string>> = {
  local: "The machine had it from an earlier build.",
  prefetched: "It was prefetched, and arrived before the request.",
  fetched: "The build waited for its transfer from the farm.",
  missed: "There was no such result: the build made it.",
  unreachable: "The farm was not available.",
};
