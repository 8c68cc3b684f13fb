import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Logger } from "pino";
import type { GranaryBuildReport } from "#api/granary.ts";
import type { TransferLimits } from "#commit-index/order-transfer.ts";
import { keyText, type ResultKey } from "#commit-index/result-key.ts";
import { messageOf } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import type { Service } from "#core/service.ts";
import type { UploadWhen } from "../config.ts";
import type { GranaryFarm } from "../farm/granary-farm.ts";
import type { Outbox } from "../outbox/outbox.ts";
import { sharedTransfers } from "../prefetch/shared-transfers.ts";
import { type RunningPrefetch, startPrefetch } from "../prefetch/start-prefetch.ts";
import { openWasteMemory } from "../prefetch/waste-file.ts";
import type { FetchAheadAnswer } from "../protocol/answers.ts";
import type { GranaryStore } from "../store/granary-store.ts";
import type { Build, BuildDesk } from "./build.ts";
import { type BuildFacts, withCommitFrom } from "./build-facts.ts";
import { type Demand, indexEntries, startDemand } from "./demand.ts";
import { type DemandLog, openDemandLog } from "./demand-log.ts";
import { fetchingAhead } from "./fetch-ahead.ts";
import { openLastReports } from "./last-reports.ts";
import { onlyHear, type Plan, type PlanParts } from "./plan-ahead.ts";
import { planWhenBack } from "./plan-when-back.ts";
import { type BuildEnd, publishIndex, publishInterrupted } from "./publish-build.ts";
import { openQuarantineNews } from "./quarantine-news.ts";
import { reportOf, type TruncatedMark } from "./report.ts";
import { stepClock } from "./step-clock.ts";
import { untilHeard } from "./until-heard.ts";
import { openWorkspaceMemory } from "./workspace-memory.ts";

export interface RunningBuild extends Build {
  readonly prefetch: RunningPrefetch;
  readonly facts: BuildFacts;
  readonly startedAt: Date;
  /** Paths of the repository that a result was made of, where its tool says. */
  knowsInputs(key: ResultKey, inputs: readonly string[]): void;
  /** Resolves when all that is expected of it is here, or `enough` has resolved, or that much time is over. */
  ready(mostMs: number, enough?: Promise<void>): Promise<"ready" | "late">;
}

export interface Builds extends BuildDesk, Service {
  /** Never waits for the farm. */
  start(facts: BuildFacts): Promise<RunningBuild>;
  /** Undefined: no such build is under way. Its index and its report are safe, and on their way, when this resolves. */
  end(id: string, how: BuildEnd): Promise<GranaryBuildReport | undefined>;
  find(id: string | undefined): RunningBuild | undefined;
  running(): readonly RunningBuild[];
  /** What the last builds of this machine had from where, the latest first. */
  lastReports(): Promise<GranaryBuildReport[]>;
  /** Fetches for a build that is yet to come; or, `dryRun`, only says what. Answers before all of it is here. */
  fetchAhead(facts: BuildFacts, dryRun: boolean): Promise<FetchAheadAnswer>;
}

export interface BuildsParts {
  /** The granary's data directory: `builds` is made in it. */
  readonly directory: string;
  readonly store: GranaryStore;
  readonly farm: GranaryFarm;
  /** The farm's address: what is known of one farm's versions says nothing of another's. */
  readonly farmName?: string;
  /** Drops a result wherever it is held; the store's own where nothing else holds any. */
  readonly forget?: (project: string, key: ResultKey) => Promise<void>;
  readonly outbox: Pick<Outbox, "addIndex" | "addReport" | "hold" | "sentBytes">;
  readonly changedSince: PlanParts["changedSince"];
  readonly limits: TransferLimits;
  /** Of the line, for fetching ahead; undefined: all of it. */
  readonly bytesPerSecond?: number | undefined;
  readonly upload: UploadWhen;
  readonly logger: Logger;
}

interface Entry {
  readonly build: RunningBuild;
  readonly demand: Demand;
  readonly places: ReadonlyMap<string, string>;
  readonly log: DemandLog;
  readonly letGo: () => void;
  readonly plan: Promise<Plan>;
  readonly notAhead: GranaryBuildReport["notAhead"];
  readonly sentBefore: number;
  readonly abort: AbortController;
  facts(): BuildFacts;
  elapsedMs(): number;
}

/** A farm that does not hear that nobody waits any more is not waited for. */
const planGraceMs = 250;

/** A build that asked for less of what an index names was helped by its tool's own books: it did not ask for all. */
const fewShare = 0.5;

async function noPlanAfter(ms: number): Promise<Plan> {
  await rest(ms);
  return { indexes: [], isCut: true };
}

/** The builds of this machine. What a daemon that died left of its builds is published first. */
export async function openBuilds(parts: BuildsParts): Promise<Builds> {
  const { store, farm, outbox, logger } = parts;
  const directory = join(parts.directory, "builds");
  const shared = sharedTransfers();
  const workspaces = openWorkspaceMemory(join(parts.directory, "workspaces"));
  const waste = await openWasteMemory(join(parts.directory, "prefetch-waste.json"));
  const news = await openQuarantineNews(
    join(parts.directory, "quarantine-heard.json"),
    parts.farmName ?? "",
    parts.forget ?? ((project, key) => store.forget(project, key)),
    () => store.sync(),
  );
  const lastReports = openLastReports(join(parts.directory, "reports"), logger);
  const entries = new Map<string, Entry>();
  const note = (message: string) => logger.info(message);

  const ahead = fetchingAhead({ ...parts, shared, note });
  await publishInterrupted(directory, outbox, logger);

  async function start(begun: BuildFacts): Promise<RunningBuild> {
    const id = randomUUID();
    const startedAt = new Date();
    // Clocks of machines jump: what is measured is measured by the one that does not.
    let since = performance.now();
    const elapsedMs = () => Math.round(performance.now() - since);
    const demand = startDemand();
    const places = new Map<string, string>();
    const steps = stepClock();
    const abort = new AbortController();
    let facts = begun;
    let mayHave: ((key: ResultKey) => boolean) | undefined;
    const log = await openDemandLog(directory, { id, startedAt, facts }, demand);
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
    const hearing = untilHeard(farm.line()?.roundTripMs);
    const build: RunningBuild = {
      id,
      project: facts.project,
      startedAt,
      prefetch,
      get facts() {
        return facts;
      },
      mayBeAtFarm: (key) => mayHave?.(key) ?? true,
      newsOfQuarantine: () => hearing.pending(),
      asked(key, said) {
        prefetch.asked(key);
        const isDropped = said.because === "never-made" && news.hasDropped(facts.project, key);
        const what = isDropped ? { ...said, because: "quarantined" as const } : said;
        if (what.result === undefined) steps.missed(key, elapsedMs());
        // An order that is known is not lost by a build that cannot tell its own: indexes keep the earlier time.
        const known = what.isNotedLater === true ? prefetch.firstMs?.(key) : undefined;
        const askedMs = known ?? Math.max(0, elapsedMs() - what.waitedMs);
        demand.asked(key, what, askedMs, prefetch.leadMs(key));
      },
      askedBlob: (digest) => demand.askedBlob(digest),
      made: (result) => demand.made(result, elapsedMs()),
      tookMs: (key) => steps.tookMs(key, elapsedMs()),
      knowsInputs: (key, inputs) => demand.knowsInputs(key, inputs),
      knowsPlace(key, paths) {
        const [least] = [...paths].sort();
        if (least !== undefined) places.set(keyText(key), least);
      },
      toldCommit(commit, dirty) {
        facts = withCommitFrom(begun, { commit, dirty: facts.dirty || dirty });
      },
      async ready(mostMs, enough = prefetch.settled()) {
        const over = new AbortController();
        // It has not begun: what is here by then is in time.
        since = performance.now() + mostMs;
        const late = rest(mostMs, over.signal).then(() => "late" as const);
        const end = await Promise.race([enough.then(() => "ready" as const), late]);
        over.abort();
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
          const resolved = await farm.resolve({ ...which, quarantineSince }, signal);
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
      ? planWhenBack(planParts, facts, prefetch, abort.signal)
      : onlyHear(planFarm, facts, abort.signal);
    void plan.finally(() => hearing.heard());
    const letGo =
      parts.upload === "during"
        ? () => {}
        : outbox.hold(parts.upload === "after" ? "let go" : "due");
    const sentBefore = outbox.sentBytes;
    entries.set(id, {
      build,
      demand,
      places,
      log,
      letGo,
      plan,
      notAhead,
      sentBefore,
      abort,
      facts: () => facts,
      elapsedMs,
    });
    return build;
  }

  async function end(id: string, how: BuildEnd): Promise<GranaryBuildReport | undefined> {
    const entry = entries.get(id);
    if (entry === undefined) return undefined;
    entries.delete(id);
    const { build, demand, places, log, letGo, notAhead, abort } = entry;
    const elapsedMs = entry.elapsedMs();
    const facts = entry.facts();
    abort.abort();
    await build.prefetch.stop();
    const { indexes, isCut } = await Promise.race([entry.plan, noPlanAfter(planGraceMs)]);
    await log.close();
    const truncated: TruncatedMark[] = [];
    if (demand.truncated) truncated.push("asked");
    if (isCut) truncated.push("index");
    const report = reportOf(facts, [...demand.all()], {
      id,
      startedAt: build.startedAt,
      endedAt: new Date(build.startedAt.getTime() + elapsedMs),
      exitCode: how.exitCode,
      indexes,
      notAhead,
      transferred: build.prefetch.transferred(),
      uploadedBytes: Math.max(0, outbox.sentBytes - entry.sentBefore),
      truncated,
    });
    const { results, isWhole, remembered } = await workspaces.after(
      facts,
      indexEntries(demand.all()).map((own) => ({ entry: own, place: places.get(keyText(own)) })),
    );
    const all = results.map((result) => result.entry);
    const isFew = indexes.some(({ entries: named }) => all.length < named * fewShare);
    const isAll = isWhole && !isFew && !demand.truncated;
    try {
      // Together, for one wait for the disk; in this order they become durable, and leave.
      await Promise.all([
        publishIndex(outbox, facts, all, { ...how, complete: how.complete && isAll }),
        outbox.addReport(report),
        remembered,
      ]);
      // From here on the outbox has it.
      await log.remove();
    } catch (reason) {
      logger.warn({ build: id, why: messageOf(reason) }, "the build's index waits for a restart");
    } finally {
      letGo();
    }
    lastReports.keep(report);
    const { transferred, wasted } = report.bytes;
    await waste.remember(
      facts.project,
      facts.command,
      notAhead === undefined ? { transferred, wasted } : "skipped",
    );
    return report;
  }

  return {
    start,
    end,
    find: (id) => (id === undefined ? undefined : entries.get(id)?.build),
    only(project) {
      const of = [...entries.values()].filter(({ build }) => build.project === project);
      return of.length === 1 ? of[0]?.build : undefined;
    },
    lastReports: () => lastReports.all(),
    fetchAhead: (facts, dryRun) => ahead.fetch(facts, dryRun),
    running: () => [...entries.values()].map(({ build }) => build),
    async stop() {
      await ahead.stop();
      await Promise.all(
        [...entries.keys()].map((id) => end(id, { exitCode: null, complete: false })),
      );
      await lastReports.stop();
    },
  };
}
