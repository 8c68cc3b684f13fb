import { z } from "zod";

/**
 * Where a job stands. Computed from its runs and its edges, never set by hand.
 *
 * `blocked`: an edge is still open. `unreachable`: an edge can no longer be met
 * (the page says "skipped because X failed"); it opens again when X runs anew.
 * `ready`: its action is being prepared. `queued`, `running`: as the queue sees it.
 */
export const jobStates = [
  "blocked",
  "unreachable",
  "ready",
  "queued",
  "running",
  "succeeded",
  "failed",
  "cancelled",
] as const;
export const JobState = z.enum(jobStates);
export type JobState = z.infer<typeof JobState>;

/** Whether nothing more will happen to a job by itself. */
export function isOver(state: JobState): boolean {
  return (
    state === "succeeded" || state === "failed" || state === "cancelled" || state === "unreachable"
  );
}

/** A graph is over when all its jobs are; it failed when one of them did. A skipped job alone fails nothing. */
export const graphStates = ["running", "succeeded", "failed", "cancelled"] as const;
export const GraphState = z.enum(graphStates);
export type GraphState = z.infer<typeof GraphState>;
