import type {
  BenchmarkJobState,
  BenchmarkJobView,
  RequestState,
  RequestSummary,
} from "#api/benchmark-request.ts";
import type { CollectorState } from "#api/collector.ts";
import type { JobState } from "#api/job-state.ts";

interface Said {
  readonly words: string;
  /** The state whose shape is used. */
  readonly shape: JobState | "over" | "silent";
}

export const requestStates: Readonly<Record<RequestState, Said>> = {
  "waiting-for-artifacts": { words: "waits for its artifact", shape: "waiting" },
  "artifacts-ready": { words: "queued", shape: "queued" },
  "in-progress": { words: "in progress", shape: "running" },
  completed: { words: "completed", shape: "succeeded" },
  failed: { words: "failed", shape: "failed" },
  cancelled: { words: "cancelled", shape: "cancelled" },
};

export const jobStates: Readonly<Record<BenchmarkJobState, Said>> = {
  queued: { words: "queued", shape: "queued" },
  "in-progress": { words: "in progress", shape: "running" },
  success: { words: "done", shape: "succeeded" },
  failure: { words: "failed", shape: "failed" },
  cancelled: { words: "cancelled", shape: "cancelled" },
};

export const collectorStates: Readonly<Record<CollectorState, Said>> = {
  "never-seen": { words: "never seen", shape: "inactive" },
  offline: { words: "offline", shape: "silent" },
  inactive: { words: "inactive", shape: "over" },
  "out-of-duty": { words: "out of duty", shape: "failed" },
  waiting: { words: "waiting", shape: "ready" },
  measuring: { words: "measuring", shape: "running" },
};

export const purposeWords: Readonly<Record<BenchmarkJobView["purpose"], string>> = {
  own: "own",
  backfill: "backfill of the parent",
  paired: "pairs with the parent",
  confirm: "confirms changes",
};

/** Describes a job's subject: `compile · js · check · set 0`. */
export function jobWords({ section, backend, profile, set, target }: BenchmarkJobView): string {
  return [section, backend, profile, section === "compile" ? `set ${set}` : "", target]
    .filter((word) => word !== "")
    .join(" · ");
}

/** `nightly · asked by ada`: the kind of a request, who requested it, and the reason of an automatic one. */
export function originWords({ kind, pr, requestedBy, because }: RequestSummary): string {
  return [kind, pr === null ? "" : `PR ${pr}`, `requested by ${requestedBy}`, because]
    .filter((word) => word !== "")
    .join(" · ");
}

/** Whether a job failed or a benchmark failed: the request has ended, but with errors. */
export function hasTrouble({ state, errors, jobs }: RequestSummary): boolean {
  return state === "failed" || errors > 0 || jobs.failed > 0;
}
