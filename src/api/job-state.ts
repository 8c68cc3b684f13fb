import { z } from "zod";

/**
 * The states of a job. Computed from its runs and its edges, never set by hand.
 *
 * `inactive`: in the graph, but not requested yet. `blocked`: an edge is still open. `unreachable`: an edge can no
 * longer be met (the page shows "skipped because X failed"); it opens again when X runs again. `waiting`: for a person
 * or for a time. `ready`: its action is being prepared. `queued`, `running`: the state in the queue. `expired`: it
 * waited too long, and its definition treats that as skipped. `coalesced`: the run of another commit's job is used for
 * it.
 */
export const jobStates = [
  "inactive",
  "blocked",
  "unreachable",
  "waiting",
  "ready",
  "queued",
  "running",
  "succeeded",
  "failed",
  "cancelled",
  "expired",
  "coalesced",
] as const;
export const JobState = z.enum(jobStates);
export type JobState = z.infer<typeof JobState>;

/** Returns whether a job is in a final state that only a request can change. */
export function isOver(state: JobState): boolean {
  switch (state) {
    case "inactive":
    case "unreachable":
    case "succeeded":
    case "failed":
    case "cancelled":
    case "expired":
    case "coalesced":
      return true;
    case "blocked":
    case "waiting":
    case "ready":
    case "queued":
    case "running":
      return false;
  }
}

/**
 * A graph is over when all its jobs are; it failed when one of them did. Jobs that were only skipped, never requested,
 * expired or coalesced do not make it fail.
 */
const graphStates = ["running", "succeeded", "failed", "cancelled"] as const;
export const GraphState = z.enum(graphStates);
export type GraphState = z.infer<typeof GraphState>;
