import type { JobKind } from "#api/graph.ts";
import type { JobState } from "#api/job-state.ts";
import type { WaitingReason } from "#api/waiting.ts";
import type { QueuePosition } from "#execution/claiming/queue-position.store.ts";
import type { SeenOffer } from "#execution/submitting/queued-kinds.store.ts";
import { counted, inWhile, listed } from "./waiting-words.ts";
import { whyQueued } from "./why-queued.ts";

export interface JobStanding {
  readonly name: string;
  readonly state: JobState;
}

/** The facts about a job that has not started. */
export type WaitingFacts =
  | {
      readonly kind: "blocked";
      /** Some of the jobs that it directly waits for. */
      readonly jobs: readonly JobStanding[];
      readonly count: number;
      /** The job at the start of the chain, and its own reason to wait. */
      readonly root: (JobStanding & { readonly facts: WaitingFacts | null }) | null;
    }
  | {
      readonly kind: "held";
      readonly job: string;
      readonly jobKind: JobKind;
      readonly dueAt: Date | null;
      readonly repository: string;
      readonly branch: string;
      /** For a breakpoint: who may release it, if not everybody with the grant; and the results to look at first. */
      readonly release: readonly string[];
      readonly message: string | null;
    }
  | { readonly kind: "outside" }
  | {
      readonly kind: "ready";
      /** A server is preparing it, or will not retry before this time. */
      readonly preparingUntil: Date | null;
      readonly failures: number;
      readonly trouble: string | null;
      /** The number of ready jobs that are prepared before it. */
      readonly ahead: number;
    }
  | { readonly kind: "limited"; readonly limit: string; readonly most: number }
  | { readonly kind: "in-queue"; readonly position: QueuePosition };

/** Returns why a job waits: the present obstacle, not a later one. */
export function whyWaiting(
  facts: WaitingFacts,
  now: Date,
  /** The offers of workers that may be started. */
  declared: readonly SeenOffer[] = [],
): WaitingReason {
  switch (facts.kind) {
    case "blocked":
      return whyBlocked(facts, now, declared);
    case "held":
      return whyHeld(facts, now);
    case "outside":
      return {
        kind: "outside",
        sentence: "waits until a machine outside the farm reports its result",
        advice: null,
      };
    case "ready":
      return whyReady(facts, now);
    case "limited":
      return {
        kind: "limit",
        limit: facts.limit,
        most: facts.most,
        sentence: `waits because ${facts.limit} allows ${counted(facts.most, "run")} at the same time`,
        advice: `raise ${facts.limit}, if more may run at the same time`,
      };
    case "in-queue":
      return whyQueued(facts.position, now, undefined, declared);
  }
}

function whyBlocked(
  { jobs, count, root }: Extract<WaitingFacts, { kind: "blocked" }>,
  now: Date,
  declared: readonly SeenOffer[],
): WaitingReason {
  const isDirect = jobs.some(({ name }) => name === root?.name);
  const others = jobs.map(({ name }) => name).filter((name) => name !== root?.name);
  const waitsFor = `waits for ${listed(isDirect && root !== null ? [root.name, ...others] : others, count)}`;
  const reason =
    root === null || root.facts === null ? null : whyWaiting(root.facts, now, declared);
  const sentence =
    root === null
      ? waitsFor
      : `${waitsFor}; ${isDirect ? "" : "first of all, "}${root.name} ${reason?.sentence ?? saidOf(root.state)}`;
  return {
    kind: "dependency",
    root: root === null ? null : { name: root.name, state: root.state },
    jobs: jobs.map(({ name, state }) => ({ name, state })),
    count,
    sentence,
    advice: reason?.advice ?? null,
  };
}

function saidOf(state: JobState): string {
  return state === "running" ? "is running" : `is ${state}`;
}

function whyHeld(facts: Extract<WaitingFacts, { kind: "held" }>, now: Date): WaitingReason {
  const { job, jobKind, dueAt, repository, branch, release, message } = facts;
  const until = dueAt?.toISOString() ?? null;
  if (jobKind === "breakpoint") {
    const where = branch === "" ? repository : `${branch} of ${repository}`;
    return {
      kind: "person",
      breakpoint: job,
      mayRelease: [...release],
      message,
      until,
      sentence:
        dueAt === null
          ? "waits for a person to release it"
          : `waits for a person to release it, and is given up ${inWhile(dueAt, now)}`,
      advice:
        release.length === 0
          ? `everyone with the grant "release" on ${where} may release it`
          : `${release.join(" or ")} may release it, with the grant "release" on ${where}`,
    };
  }
  return {
    kind: "time",
    until,
    sentence:
      dueAt === null
        ? "waits for its time"
        : `waits for its time, which comes ${inWhile(dueAt, now)}`,
    advice: null,
  };
}

function whyReady(
  { preparingUntil, failures, trouble, ahead }: Extract<WaitingFacts, { kind: "ready" }>,
  now: Date,
): WaitingReason {
  const isHeld = preparingUntil !== null && preparingUntil > now;
  if (failures > 0 && trouble !== null) {
    return {
      kind: "preparing",
      trouble,
      until: isHeld ? preparingUntil.toISOString() : null,
      ahead,
      sentence: `could not be prepared ${counted(failures, "time")}, and is tried again ${isHeld ? inWhile(preparingUntil, now) : "now"}: ${trouble}`,
      advice: "the cause is in the farm: its server's log contains more",
    };
  }
  return {
    kind: "preparing",
    trouble: null,
    until: null,
    ahead: isHeld ? 0 : ahead,
    sentence: isHeld
      ? "is being prepared: its files are put together"
      : ahead === 0
        ? "is next to be prepared"
        : `waits to be prepared, after about ${counted(ahead, "other job")}`,
    advice: null,
  };
}
