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
import type { Build } from "./build.ts";
import { type BuildAccesses, startBuildAccesses } from "./build-accesses.ts";
import { type BuildFacts, withCommitFrom } from "./build-facts.ts";
import type { BuildsParts } from "./builds-parts.ts";
import { firstResponse } from "./first-response.ts";
import { type Plan, type PlanParts, readQuarantineOnly } from "./plan-prefetch.ts";
import { planWhenFarmReturns } from "./plan-when-farm-returns.ts";
import type { QuarantineUpdates } from "./quarantine-updates.ts";
import { stepClock } from "./step-clock.ts";

export interface RunningBuild extends Build {
  readonly prefetch: RunningPrefetch;
  readonly facts: BuildFacts;
  readonly startedAt: Date;
  /** Paths of the repository that a result was made of, where its tool says. */
  knowsInputs(key: ResultKey, inputs: readonly string[]): void;
  /** Resolves when all that is expected of it is here, or `enough` has resolved, or that much time is over. */
  ready(mostMs: number, enough?: Promise<void>): Promise<"ready" | "late">;
}

/** A build, and what its end needs. */
export interface BuildUnderWay {
  readonly build: RunningBuild;
  readonly accesses: BuildAccesses;
  readonly places: ReadonlyMap<string, string>;
  readonly log: AccessLog;
  readonly letGo: () => void;
  readonly plan: Promise<Plan>;
  readonly notAhead: GranaryBuildReport["notAhead"];
  readonly sentBefore: number;
  readonly troubleBefore: DiskTrouble | undefined;
  readonly abort: AbortController;
  facts(): BuildFacts;
  elapsedMs(): number;
}

/** What all builds of a machine share. */
export interface BuildContext {
  readonly parts: BuildsParts;
  /** Of the logs of demand. */
  readonly directory: string;
  readonly shared: SharedTransfers;
  readonly waste: WasteMemory;
  readonly news: QuarantineUpdates;
  readonly note: (message: string) => void;
}

/** Begins to fetch ahead, and waits for nobody but the disk. */
export async function startBuild(context: BuildContext, begun: BuildFacts): Promise<BuildUnderWay> {
  const { parts, directory, shared, waste, news, note } = context;
  const { store, farm, outbox } = parts;
  const id = randomUUID();
  const startedAt = new Date();
  // Clocks of machines jump: what is measured is measured by the one that does not.
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
  const notAhead = !facts.prefetch
    ? "not-wished"
    : waste.isWorthIt(facts.project, facts.command)
      ? undefined
      : "wasteful";
  const isFetching = notAhead === undefined;
  // A machine that has built it before has most of what the farm would send along.
  const isNew = isFetching && !waste.hasBuilt(facts.project);
  const hearing = firstResponse(farm.line()?.roundTripMs);
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
    quarantineUpdates: () => hearing.pending(),
    asked(key, said) {
      prefetch.asked(key);
      const isDropped = said.because === "never-made" && news.hasDropped(facts.project, key);
      const what = isDropped ? { ...said, because: "quarantined" as const } : said;
      const toldMs = elapsedMs() - (what.agoMs ?? 0);
      if (what.result === undefined) steps.missed(key, toldMs);
      // An order that is known is not lost by a build that cannot tell its own: indexes keep the earlier time.
      const known = what.isNotedLater === true ? prefetch.firstMs?.(key) : undefined;
      const requestedMs = known ?? Math.max(0, toldMs - what.waitedMs);
      accesses.asked(key, what, requestedMs, prefetch.leadMs(key));
    },
    requestedBlob: (digest) => accesses.requestedBlob(digest),
    made: (result) => accesses.made(result, elapsedMs()),
    tookMs: (key) => steps.tookMs(key, elapsedMs()),
    knowsInputs: (key, inputs) => accesses.knowsInputs(key, inputs),
    knowsPlace(key, paths) {
      const [least] = [...paths].sort();
      if (least !== undefined) places.set(keyText(key), least);
    },
    toldCommit(commit, dirty) {
      facts = withCommitFrom(begun, { commit, dirty: facts.dirty || dirty });
    },
    async ready(mostMs, enough = prefetch.settled()) {
      // It has not begun: what is here by then is in time.
      since = performance.now() + mostMs;
      const end = await inTime(
        enough.then(() => "ready" as const),
        mostMs,
      );
      // What a build asks for is told from when it really began.
      since = performance.now();
      return end;
    },
  };
  const planFarm: PlanParts["farm"] = {
    isAway: () => farm.isAway(),
    blobs: (project) => farm.blobs(project),
    async resolve(which, signal) {
      try {
        const quarantineSince = news.since(facts.project);
        const asked = {
          ...which,
          quarantineSince,
          ...(isNew ? { headBytes: headBytesOf(farm.line()) } : {}),
        };
        const resolved = await farm.resolve(asked, signal);
        mayHave = resolved.mayHave;
        const { quarantined } = resolved;
        if (quarantined !== undefined) await news.take(facts.project, quarantined);
        return resolved;
      } finally {
        hearing.heard();
      }
    },
  };
  // Of a farm that is away nothing will be heard soon: what is here is given at once.
  if (farm.isAway()) hearing.heard();
  const planParts = { store, farm: planFarm, changedSince: parts.changedSince, note };
  if (!isFetching) prefetch.planned("over-budget");
  const plan = isFetching
    ? planWhenFarmReturns(planParts, facts, prefetch, abort.signal)
    : readQuarantineOnly(planFarm, facts, abort.signal);
  void plan.finally(() => hearing.heard());
  const letGo =
    parts.upload === "during" ? () => {} : outbox.hold(parts.upload === "after" ? "let go" : "due");
  return {
    build,
    accesses,
    places,
    log,
    letGo,
    plan,
    notAhead,
    sentBefore: outbox.sentBytes,
    troubleBefore: store.diskTrouble(),
    abort,
    facts: () => facts,
    elapsedMs,
  };
}
