import type { AdvancingJob } from "./graph-part.ts";

/** Returns why a job cannot run, for people. All jobs of a chain name the job that began it. */
export function reasonToSkip(on: AdvancingJob): string {
  switch (on.state) {
    case "unreachable":
      return on.reason ?? `skipped because ${on.name} was skipped`;
    case "succeeded":
      return `not needed: ${on.name} succeeded`;
    case "cancelled":
      return `skipped because ${on.name} was cancelled`;
    case "failed":
      return `skipped because ${on.name} failed`;
    case "inactive":
      return `skipped because ${on.name} is not active`;
    case "expired":
      return `skipped because ${on.name} waited too long`;
    case "coalesced":
      return `skipped because ${on.name} was coalesced`;
    case "blocked":
    case "waiting":
    case "ready":
    case "queued":
    case "running":
      throw new RangeError(`an edge to ${on.name} cannot fail yet`);
  }
}
