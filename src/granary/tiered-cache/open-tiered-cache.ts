import type { Logger } from "pino";
import type { Divergence } from "#api/granary.ts";
import { keyText } from "#commit-index/result-key.ts";
import { messageOf } from "#core/fault.ts";
import type { Service } from "#core/service.ts";
import { activeSpan, nowMs, recordStep } from "#tracing/active-span.ts";
import type { Build } from "../builds/build.ts";
import { crossChecks } from "../cross-check/cross-checks.ts";
import type { GranaryFarm } from "../farm/granary-farm.ts";
import type { GranaryResult } from "../granary-result.ts";
import type { Outbox } from "../outbox/outbox.ts";
import type { GranaryStore } from "../store/granary-store.ts";
import { downloads } from "./downloads.ts";
import { type Found, findResult } from "./find-result.ts";
import { partialResults } from "./partial-results.ts";
import { SilenceBudget, silenceLimitsAtFarm } from "./silence-budget.ts";
import { tieredBlobs } from "./tiered-blobs.ts";
import type { Requester, TieredCache } from "./tiered-cache.ts";

interface TieredCacheParts {
  readonly store: GranaryStore;
  readonly outbox: Pick<Outbox, "addResult" | "addDivergence">;
  readonly farm: GranaryFarm;
  /** The share of hits, from 0 to 1, that the build makes again so that both results can be compared. */
  readonly crossCheckShare: number;
  /** This machine's name, for reports. */
  readonly machine: string;
  readonly logger: Logger;
}

/** Records a lookup as a span of the request that made it; does nothing without tracing. */
function recordLookup(source: Found["source"], begun: number): void {
  if (activeSpan() === undefined) return;
  const endMs = nowMs();
  // Rounded down, so that it does not begin before the request.
  const startMs = endMs - Math.floor(performance.now() - begun);
  const attributes = { "grange.lookup.source": source };
  recordStep({ name: "granary lookup", startMs, endMs, attributes });
}

/** Requests outside of a known build share one silence budget for each such period. */
const anonymousBudgetMs = 60_000;

/** Opens the cache. `stop` cancels transfers and waits until started writes have ended. */
export function openTieredCache(parts: TieredCacheParts): TieredCache & Service {
  const { store, outbox, farm, logger } = parts;
  const partial = partialResults();
  const background = new Set<Promise<unknown>>();
  const lookingFor = new Map<string, Promise<Found>>();

  const inBackground = (work: Promise<unknown>, what: string) => {
    const noted = work.catch((err: unknown) => logger.warn({ err }, what));
    background.add(noted);
    void noted.finally(() => background.delete(noted));
  };

  const settle = async (result: GranaryResult): Promise<void> => {
    try {
      await store.keep(result);
      // Only after `keep`, so that a concurrent lookup finds it in one of the two places.
      partial.forget(result.project, result);
    } catch (err) {
      logger.warn({ err, key: result.key }, "a fetched result could not be stored");
    }
  };

  const bringing = downloads({
    farm,
    blobs: store.blobs,
    onKept(digest) {
      for (const result of partial.arrived(digest)) {
        inBackground(settle(result), "a fetched result could not be stored");
      }
    },
  });

  const roundTripMs = () => farm.line()?.roundTripMs;
  const budgetOfBuild = new WeakMap<Build, SilenceBudget>();
  let anonymous = { budget: new SilenceBudget(roundTripMs), since: performance.now() };
  const budgetOf = ({ build, madeAtFarm = false }: Requester): SilenceBudget => {
    if (madeAtFarm) return new SilenceBudget(roundTripMs, silenceLimitsAtFarm);
    if (build === undefined) {
      if (performance.now() - anonymous.since > anonymousBudgetMs) {
        anonymous = { budget: new SilenceBudget(roundTripMs), since: performance.now() };
      }
      return anonymous.budget;
    }
    const budget = budgetOfBuild.get(build) ?? new SilenceBudget(roundTripMs);
    budgetOfBuild.set(build, budget);
    return budget;
  };

  const blobsFor = (who: Requester) =>
    tieredBlobs({ local: store.blobs, farm, downloads: bringing, partial, budgetOf }, who);

  const checks = crossChecks({
    share: parts.crossCheckShare,
    machine: parts.machine,
    bytesOf: (build, result) => blobsFor({ project: result.project, build }).get(result.value),
  });

  /** Concurrent lookups of one result share one search. */
  function find(who: Requester, key: Parameters<TieredCache["result"]>[1]): Promise<Found> {
    const name = `${keyText(key)} ${who.project} ${who.build?.id ?? ""}`;
    const looking = lookingFor.get(name);
    if (looking !== undefined) return looking;
    const looked = findResult(
      { store, farm, downloads: bringing, partial, settle },
      who,
      key,
      budgetOf(who),
    ).finally(() => lookingFor.delete(name));
    lookingFor.set(name, looked);
    return looked;
  }

  /**
   * Reports a divergence at once, because other machines still receive that result; if the farm cannot be reached,
   * through the outbox.
   */
  async function reportDivergence(project: string, divergence: Divergence): Promise<void> {
    try {
      await farm.reportDivergence(project, divergence);
    } catch {
      await outbox.addDivergence(project, divergence);
    }
  }

  /**
   * Returns false for a result that differs from the stored one: it is unknown which is right, so it stays on this
   * machine.
   */
  async function isToBePublished(who: Requester, result: GranaryResult): Promise<boolean> {
    const divergence = await checks.divergence(who.build, result);
    if (divergence === undefined) return true;
    logger.warn(
      { divergence },
      `${result.namespace} ${result.key} had another result when it was executed again; this machine no longer uses the stored result`,
    );
    partial.forget(who.project, result);
    await store.forget(who.project, result);
    inBackground(
      reportDivergence(who.project, divergence),
      "the farm could not be informed of a different result",
    );
    return false;
  }

  return {
    async result(who, key) {
      const begun = performance.now();
      const { source, because, result } = await find(who, key);
      const isHidden = result !== undefined && checks.hides(who.build, result);
      const waitedMs = Math.round(performance.now() - begun);
      recordLookup(source, begun);
      who.build?.asked(
        key,
        isHidden
          ? { source: "missed", because: "cross-check", waitedMs, result: undefined }
          : { source, because, waitedMs, result },
      );
      return isHidden ? undefined : result;
    },

    blobs: blobsFor,

    async keep(who, reported) {
      const costMs = reported.costMs ?? who.build?.tookMs?.(reported);
      const result = { ...reported, costMs };
      try {
        const toFarm = await isToBePublished(who, result);
        // The outbox first: a crash in between would leave a result here that the farm never gets.
        if (toFarm) await outbox.addResult(result);
        await store.keep(result);
        partial.forget(who.project, result);
        who.build?.made(result);
      } catch (err) {
        // A full disk loses the result, but must not fail the build.
        logger.warn(
          { err: messageOf(err), key: result.key },
          "a result of a build could not be stored",
        );
      }
    },

    async forget(who, key) {
      partial.forget(who.project, key);
      await store.forget(who.project, key);
    },

    async stop() {
      await bringing.stop();
      await Promise.all(background);
    },
  };
}
