import type { JobDetail } from "#api/graph.ts";

/** Returns the batch to show of a chunked job's latest run: the newest that failed, or else the newest. */
export function batchToShow(
  { chunks }: Pick<JobDetail, "chunks">,
  run: number,
): number | undefined {
  if (chunks === null || chunks.run !== run) return undefined;
  const bad = chunks.batches.find(({ outcome }) => outcome !== null && outcome !== "succeeded");
  return (bad ?? chunks.batches[0])?.number;
}
