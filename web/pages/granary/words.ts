import type { ResultSource } from "#api/granary.ts";

export { becauseAdvice, indexWords, lateReasonTexts } from "#api/granary-words.ts";

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

/** Formats 0.934 as `93 %`; never rounded up to 100 %. */
export function shareText(part: number, whole: number): string {
  if (whole === 0) return "–";
  const percent = (100 * part) / whole;
  if (percent > 0 && percent < 1) return "< 1 %";
  if (percent > 99 && percent < 100) return "> 99 %";
  return `${Math.round(percent)} %`;
}

export const countText = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
