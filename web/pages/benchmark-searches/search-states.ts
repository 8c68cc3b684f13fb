import type { BenchmarkSearchView } from "#api/benchmark-history.ts";

/** The states of a search in words, and the job state whose shape is used. */
export const searchStates = {
  running: { words: "under way", shape: "running" },
  found: { words: "found", shape: "succeeded" },
  nothing: { words: "found nothing", shape: "over" },
  failed: { words: "failed", shape: "failed" },
  cancelled: { words: "cancelled", shape: "cancelled" },
} as const satisfies Record<BenchmarkSearchView["state"], unknown>;

export const searchKinds: Readonly<Record<BenchmarkSearchView["kind"], string>> = {
  scan: "Measure a range",
  "change-points": "Measure more around steps",
  bisect: "Bisect",
};
