import type { WaitingReason } from "#api/waiting.ts";

/** What the farm says of waiting. */
export interface WaitingFarm {
  /** Null when the job runs or is over, undefined when there is no such job. */
  jobWaiting(graphId: string, name: string): Promise<WaitingReason | null | undefined>;
}
