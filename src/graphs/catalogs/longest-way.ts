import { depthsOf } from "../advancing/depths.ts";

/**
 * Returns the time until all jobs have ended, in ms, if each starts as soon as possible: the longest path through them.
 */
export function longestWayMs(
  durations: ReadonlyMap<string, number>,
  edges: readonly { readonly job: string; readonly on: string }[],
): number {
  const depths = depthsOf([...durations.keys()], edges);
  const waitsFor = new Map<string, string[]>();
  for (const { job, on } of edges) {
    const known = waitsFor.get(job) ?? [];
    waitsFor.set(job, known);
    known.push(on);
  }
  const ends = new Map<string, number>();
  let longest = 0;
  // In order of depth, so that the jobs that a job waits for are computed before it.
  for (const name of [...durations.keys()].toSorted(
    (a, b) => (depths.get(a) ?? 0) - (depths.get(b) ?? 0),
  )) {
    const begins = (waitsFor.get(name) ?? []).reduce(
      (max, on) => Math.max(max, ends.get(on) ?? 0),
      0,
    );
    const end = begins + (durations.get(name) ?? 0);
    ends.set(name, end);
    longest = Math.max(longest, end);
  }
  return longest;
}
