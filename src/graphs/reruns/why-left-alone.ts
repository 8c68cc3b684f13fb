import { hasJoined, type SnapshotJob } from "./graph-snapshot.ts";
import type { Fate } from "./predict-graph.ts";

/** Returns why a requested job is not changed, and a remedy. */
export function whyLeftAlone(job: SnapshotJob, fate: Fate | undefined): string {
  if (fate?.kind === "refused" || fate?.kind === "cannot") {
    return `it needs ${fate.because}, which blocks it; request that as well, or waive the edge`;
  }
  if (hasJoined(job))
    return "it only groups other jobs, and ends again by itself after they have run";
  if (job.isEnding === true) return "it is being cancelled; try again after its end";
  switch (job.state) {
    case "queued":
      return "its run is in the queue already";
    case "running":
      return "it is running already";
    case "waiting":
      return "its run is waiting already";
    case "blocked":
    case "ready":
      return "it is going to run anyway";
    case "inactive":
      return "it is not active";
    case "coalesced":
      return "the run of another commit's job gives its result";
    case "unreachable":
      return job.reason ?? "it was skipped";
    case "cancelled":
      return "it was cancelled";
    case "expired":
      return "it waited too long";
    case "succeeded":
    case "failed":
      return job.runs === 0 ? "it was set aside" : `it has ${job.state} already`;
  }
}
