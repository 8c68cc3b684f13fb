import type { Series } from "#api/benchmark-history.ts";

/** Parses the query of an address: these words, each a text or absent; all others are dropped. */
export function texts<const K extends string>(...keys: readonly K[]) {
  return (search: Record<string, unknown>) => {
    const read: { [P in K]?: string | undefined } = {};
    for (const key of keys) {
      const value = search[key];
      // The router reads `5.9` as a number, and `true` as a boolean.
      const isText = typeof value === "number" || typeof value === "boolean";
      if (isText) read[key] = String(value);
      else if (typeof value === "string" && value !== "") read[key] = value;
    }
    return read;
  };
}

/** The parts of a test case by which lists are filtered. */
export const facets = ["section", "benchmark", "profile", "scenario", "backend", "target"] as const;
export type Facet = (typeof facets)[number];

/** The kind of artifacts in a series. Any other text in an address means the main line. */
export function lineOf(text: string | undefined): Series["kind"] {
  return text === "release" ? "release" : "master";
}

export const statusSearch = texts("suite", "ask", "artifact");

export const compareSearch = texts(
  "suite",
  "before",
  "after",
  "metric",
  "find",
  "category",
  "only",
  "all",
  "raw",
  ...facets,
);
export type CompareSearch = ReturnType<typeof compareSearch>;

export const graphsSearch = texts("suite", "metric", "kind", "line", "from", "to", ...facets);
export type GraphsSearch = ReturnType<typeof graphsSearch>;

export const seriesSearch = texts("suite", "case", "metric", "kind", "samples", "from", "to");
export type SeriesSearch = ReturnType<typeof seriesSearch>;

export const noiseSearch = texts("suite", "case");

export const searchesSearch = texts("suite");
