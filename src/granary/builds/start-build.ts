import { randomUUID } from "node:crypto";
import type { GranaryBuildReport } from "#api/granary.ts";
import { keyText, type ResultKey } from "#commit-index/result-key.ts";
import { messageOf } from "#core/fault.ts";
import { inTime } from "#core/in-time.ts";
import { headBytesOf } from "../farm/read-head.ts";
import type { SharedTransfers } from "../prefetch/shared-transfers.ts";
import { type RunningPrefetch, startPrefetch } from "../prefetch/start-prefetch.ts";
import type { WasteMemory } from "../prefetch/waste-file.ts";
import type { DiskTrouble } from "../store/disk-trouble.ts";
import { type AccessLog, openAccessLog } from "./access-log.ts";
import type { Build, ResultRequest } from "./build.ts";
import { type BuildAccesses, startBuildAccesses } from "./build-accesses.ts";
import { type BuildFacts, type NestedRepository, withCommitFrom } from "./build-facts.ts";
import type { BuildsParts } from "./builds-parts.ts";
import { firstResponse } from "./first-response.ts";
import {
  joined,
  type Plan,
  type PlanParts,
  planNested,
  readQuarantineOnly,
} from "./plan-prefetch.ts";
import { planWhenFarmReturns } from "./plan-when-farm-returns.ts";
import type { QuarantineUpdates } from "./quarantine-updates.ts";
import { stepClock } from "./step-clock.ts";

export interface RunningBuild extends Build {
  readonly prefetch: RunningPrefetch;
  readonly facts: BuildFacts;
  readonly startedAt: Date;
  /** Notes the paths of the repository that a result was made from, where its tool reports them. */
  knowsInputs(key: ResultKey, inputs: readonly string[]): void;
  /**
   * Notes the nested repositories, if its tool reports them after the build has begun. Resolves when the results of
   * their commits are expected. Only the first report counts, because results name repositories by their position in it.
   */
  uses(nested: readonly NestedRepository[]): Promise<void>;
  /** Notes that a result belongs to a nested repository, by its position in the build's facts, from 1. */
  belongsTo(key: ResultKey, nested: number): void;
  /** Resolves when all expected results are present, `enough` has resolved, or the time has expired. */
  ready(mostMs: number, enough?: Promise<void>): Promise<"ready" | "late">;
}

/** A running build, with the data that its end needs. */
export interface BuildUnderWay {
  readonly build: RunningBuild;
  readonly accesses: BuildAccesses;
  readonly places: ReadonlyMap<string, string>;
  readonly log: AccessLog;
  readonly releaseOutbox: () => void;
  plan(): Promise<Plan>;
  readonly notAhead: GranaryBuildReport["notAhead"];
  readonly sentBefore: number;
  readonly troubleBefore: DiskTrouble | undefined;
  readonly abort: AbortController;
  facts(): BuildFacts;
  elapsedMs(): number;
}

/** The parts that all builds of a machine share. */
export interface BuildContext {
  readonly parts: BuildsParts;
  /** The directory of the access logs. */
  readonly directory: string;
  readonly shared: SharedTransfers;
  readonly waste: WasteMemory;
  readonly news: QuarantineUpdates;
  readonly note: (message: string) => void;
}

/** Starts a build: begins to prefetch, and waits only for the disk. */
export async function startBuild(context: BuildContext, begun: BuildFacts): Promise<BuildUnderWay> {
  const { parts, directory, shared, waste, news, note } = context;
  const { store, farm, outbox } = parts;
  const id = randomUUID();
  const startedAt = new Date();
  // Durations use the monotonic clock, because the wall clock may jump.
  let since = performance.now();
  const elapsedMs = () => Math.round(performance.now() - since);
  const accesses = startBuildAccesses();
  const places = new Map<string, string>();
  const steps = stepClock();
  const abort = new AbortController();
  let facts = begun;
  let mayHave: ((key: ResultKey) => boolean) | undefined;
  const log = await openAccessLog(directory, { id, startedAt, facts }, accesses, (reason) =>
    parts.logger.warn(
      { build: id, why: messageOf(reason) },
      "a build's index would be lost with this process",
    ),
  );
  const prefetch = startPrefetch({
    project: facts.project,
    store,
    farm,
    shared,
    limits: parts.limits,
    bytesPerSecond: parts.bytesPerSecond,
    elapsedMs,
  });
  const notAhead = whyNotAhead(facts, waste);
  const isFetching = notAhead === undefined;
  // A machine that has built the project before already has most of the blobs that the farm would send with its
  // response.
  const isNew = isFetching && !waste.hasBuilt(facts.project);
  const response = firstResponse(farm.line()?.roundTripMs);
  const noted = { prefetch, accesses, steps, news, elapsedMs, project: facts.project };
  const build: RunningBuild = {
    id,
    project: facts.project,
    environment: facts.environment,
    startedAt,
    prefetch,
    get facts() {
      return facts;
    },
    mayBeAtFarm: (key) => mayHave?.(key) ?? true,
    quarantineUpdates: () => response.pending(),
    asked: (key, request) => noteRequest(noted, key, request),
    requestedBlob: (digest) => accesses.requestedBlob(digest),
    made: (result) => accesses.made(result, elapsedMs()),
    tookMs: (key) => steps.tookMs(key, elapsedMs()),
    knowsInputs: (key, inputs) => accesses.knowsInputs(key, inputs),
    belongsTo: (key, nested) => accesses.belongsTo(key, nested),
    async uses(nested) {
      if (facts.nested !== undefined || nested.length === 0) return;
      facts = { ...facts, nested: [...nested] };
      log.nested(nested);
      if (!isFetching) return;
      const more = planNested(planParts, facts, prefetch, abort.signal);
      plan = Promise.all([plan, more]).then(joined);
      await more;
    },
    knowsPlace(key, paths) {
      const [least] = [...paths].sort();
      if (least !== undefined) places.set(keyText(key), least);
    },
    toldCommit(commit, dirty) {
      const state = { ...facts, commits: begun.commits };
      facts = withCommitFrom(state, { commit, dirty: facts.dirty || dirty });
    },
    async ready(mostMs, enough = prefetch.settled()) {
      // The build has not started yet: everything that arrives until then is in time.
      since = performance.now() + mostMs;
      const end = await inTime(
        enough.then(() => "ready" as const),
        mostMs,
      );
      // Times of requests are counted from the real start of the build.
      since = performance.now();
      return end;
    },
  };
  const planFarm = farmForPlan(context, facts.project, isNew, {
    onResolved: (resolved) => (mayHave = resolved.mayHave),
    onEnd: () => response.arrived(),
  });
  // An unreachable farm will not respond soon, so local results are returned at once.
  if (farm.isAway()) response.arrived();
  const planParts = { store, farm: planFarm, changedSince: parts.changedSince, note };
  if (!isFetching) prefetch.planned("over-budget");
  let plan = isFetching
    ? planWhenFarmReturns(planParts, facts, prefetch, abort.signal)
    : readQuarantineOnly(planFarm, facts, abort.signal);
  void plan.finally(() => response.arrived());
  const releaseOutbox =
    parts.upload === "during"
      ? () => {}
      : outbox.hold(parts.upload === "after" ? "released" : "due");
  return {
    build,
    accesses,
    places,
    log,
    releaseOutbox,
    plan: () => plan,
    notAhead,
    sentBefore: outbox.sentBytes,
    troubleBefore: store.diskTrouble(),
    abort,
    facts: () => facts,
    elapsedMs,
  };
}

/** Notes a request of the build, in its accesses and for the prefetch. */
function noteRequest(
  noted: {
    readonly prefetch: RunningPrefetch;
    readonly accesses: BuildAccesses;
    readonly steps: ReturnType<typeof stepClock>;
    readonly news: QuarantineUpdates;
    readonly elapsedMs: () => number;
    readonly project: string;
  },
  key: ResultKey,
  request: ResultRequest,
): void {
  const { prefetch, accesses, steps } = noted;
  prefetch.asked(key);
  const isDropped = request.because === "never-made" && noted.news.hasDropped(noted.project, key);
  const what = isDropped ? { ...request, because: "quarantined" as const } : request;
  const answeredMs = noted.elapsedMs() - (what.agoMs ?? 0);
  if (what.result === undefined) steps.missed(key, answeredMs);
  // The time of the request is then unknown; the index keeps the time of an earlier build.
  const known = what.isNotedLater === true ? prefetch.firstMs?.(key) : undefined;
  const requestedMs = known ?? Math.max(0, answeredMs - what.waitedMs);
  accesses.asked(key, what, requestedMs, prefetch.leadMs(key));
}

/** Returns why nothing is prefetched for a build; undefined when prefetching runs. */
function whyNotAhead(
  { prefetch, project, command }: BuildFacts,
  waste: WasteMemory,
): GranaryBuildReport["notAhead"] {
  if (!prefetch) return "not-wished";
  return waste.shouldPrefetch(project, command) ? undefined : "wasteful";
}

/** Returns the farm for the plan of one build: a response also contains quarantine updates. */
function farmForPlan(
  { parts: { farm }, news }: BuildContext,
  project: string,
  isNew: boolean,
  on: {
    readonly onResolved: (resolved: Awaited<ReturnType<PlanParts["farm"]["resolve"]>>) => void;
    readonly onEnd: () => void;
  },
): PlanParts["farm"] {
  return {
    isAway: () => farm.isAway(),
    blobs: (of) => farm.blobs(of),
    async resolve(build, signal) {
      try {
        const head = isNew ? { headBytes: headBytesOf(farm.line()) } : {};
        const resolved = await farm.resolve(
          { ...build, quarantineSince: news.since(project), ...head },
          signal,
        );
        on.onResolved(resolved);
        if (resolved.quarantined !== undefined) await news.take(project, resolved.quarantined);
        return resolved;
      } finally {
        on.onEnd();
      }
    },
  };
}
