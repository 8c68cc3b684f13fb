import type { EndedRun } from "./strategy.ts";

/** The information in the runs of one execution. */
export interface Evidence {
  /** The indexes in `runs` of those to store. */
  readonly remembered: readonly number[];
  /** A failure on the largest class: the key's sequence of failures grows, and ends with a success on any class. */
  readonly verdict: "succeeded" | "failed-on-greatest" | "open";
}

/**
 * Separates shortages of resources from failures.
 *
 * A failure or timeout on a smaller class counts only after a larger class has succeeded: before that, its cause is
 * unknown. Running out of memory counts at once. Lost runs contain no information.
 *
 * @param greatest The greatest class that might have been chosen.
 */
export function evidenceOf(runs: readonly EndedRun[], greatest: number): Evidence {
  const greatestSuccess = Math.max(
    0,
    ...runs.filter(({ end }) => end === "succeeded").map(({ sizeClass }) => sizeClass),
  );
  const remembered = runs.flatMap((run, index) => (teaches(run, greatestSuccess) ? [index] : []));
  const failed = runs.some(
    ({ end, sizeClass }) => end !== "succeeded" && end !== "lost" && sizeClass >= greatest,
  );
  if (greatestSuccess > 0) return { remembered, verdict: "succeeded" };
  return { remembered, verdict: failed ? "failed-on-greatest" : "open" };
}

function teaches({ end, sizeClass }: EndedRun, greatestSuccess: number): boolean {
  switch (end) {
    case "succeeded":
    case "out_of_memory":
      return true;
    case "failed":
    case "timed_out":
      return sizeClass < greatestSuccess;
    case "lost":
      return false;
  }
}
