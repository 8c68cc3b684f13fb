import type { RunOutcome } from "#api/graph.ts";
import { isOver } from "#api/job-state.ts";
import type { SearchedJob } from "#graphs/graphs-of-commits.store.ts";

/** The verdict of a commit's jobs. */
export type Verdict =
  | { readonly kind: "good" | "bad" }
  /** Their runs have not ended. */
  | { readonly kind: "under way" }
  /** These jobs have not been requested yet. */
  | { readonly kind: "asleep"; readonly jobs: readonly string[] }
  /** These jobs must run more often before their results are accepted. */
  | { readonly kind: "unsure"; readonly jobs: ReadonlyMap<string, number> }
  | { readonly kind: "untestable"; readonly why: string }
  /** The graph has none of the jobs. */
  | { readonly kind: "absent" };

/**
 * Judges a commit by the jobs of a search; `sameResults` equal results are needed.
 *
 * The newest runs count. A run that ended because of the farm is no result, because it contains no information about
 * the commit. One bad job makes the commit bad, whatever the others' results.
 */
export function judgeCommit(jobs: readonly SearchedJob[], sameResults: number): Verdict {
  if (jobs.length === 0) return { kind: "absent" };
  const judged = jobs.map((job) => ({ job, verdict: judgeJob(job, sameResults) }));
  if (judged.some(({ verdict }) => verdict.kind === "bad")) return { kind: "bad" };
  const asleep = judged.filter(({ verdict }) => verdict.kind === "asleep");
  if (asleep.length > 0) return { kind: "asleep", jobs: asleep.map(({ job }) => job.name) };
  if (judged.some(({ verdict }) => verdict.kind === "under way")) return { kind: "under way" };
  const unsure = judged.flatMap(({ job, verdict }): [string, number][] =>
    verdict.kind === "unsure" ? [[job.name, verdict.missing]] : [],
  );
  for (const { verdict } of judged) if (verdict.kind === "untestable") return verdict;
  return unsure.length > 0 ? { kind: "unsure", jobs: new Map(unsure) } : { kind: "good" };
}

type JobVerdict =
  | { readonly kind: "good" | "bad" | "under way" | "asleep" }
  | { readonly kind: "unsure"; readonly missing: number }
  | { readonly kind: "untestable"; readonly why: string };

function judgeJob(job: SearchedJob, sameResults: number): JobVerdict {
  const { name, state, reason, outcomes } = job;
  if (job.isCustomised) return { kind: "untestable", why: `${name} is customised` };
  if (!isOver(state)) return { kind: "under way" };
  let good = 0;
  let bad = 0;
  for (const outcome of outcomes) {
    const result = resultOf(outcome);
    if (result === "good") good += 1;
    if (result === "bad") bad += 1;
    if (good === sameResults || bad === sameResults) break;
  }
  if (good === sameResults) return { kind: "good" };
  if (bad === sameResults) return { kind: "bad" };
  if (state === "inactive" || state === "coalesced") return { kind: "asleep" };
  const missing = sameResults - Math.max(good, bad);
  const latest = outcomes[0];
  // When several runs are required, a run that the farm lost is repeated.
  if (latest !== undefined && resultOf(latest) !== undefined) return { kind: "unsure", missing };
  return { kind: "untestable", why: reason ?? `${name} ended as ${latest ?? state}` };
}

function resultOf(outcome: RunOutcome): "good" | "bad" | undefined {
  switch (outcome) {
    case "succeeded":
      return "good";
    case "failed":
    case "timed_out":
    case "out_of_memory":
      return "bad";
    case "cancelled":
    case "worker_lost":
    case "infrastructure_error":
      return undefined;
  }
}
