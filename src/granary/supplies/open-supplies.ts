import type { Logger } from "pino";
import type { Divergence } from "#api/granary.ts";
import { keyText } from "#commit-index/result-key.ts";
import { messageOf } from "#core/fault.ts";
import type { Service } from "#core/service.ts";
import type { Build } from "../builds/build.ts";
import { crossChecks } from "../cross-check/cross-checks.ts";
import type { GranaryFarm } from "../farm/granary-farm.ts";
import type { GranaryResult } from "../granary-result.ts";
import type { Outbox } from "../outbox/outbox.ts";
import type { GranaryStore } from "../store/granary-store.ts";
import { downloads } from "./downloads.ts";
import { FarmPatience, patienceAtFarm } from "./farm-patience.ts";
import { halfFetched } from "./half-fetched.ts";
import { type Found, lookFor } from "./look-for.ts";
import { suppliedBlobs } from "./supplied-blobs.ts";
import type { ForWhom, Supplies } from "./supplies.ts";

export interface SuppliesParts {
  readonly store: GranaryStore;
  readonly outbox: Pick<Outbox, "addResult" | "addDivergence">;
  readonly farm: GranaryFarm;
  /** Of hits, the share that is made again and compared: from 0 to 1. */
  readonly crossCheckShare: number;
  /** This machine's name, for what it reports. */
  readonly machine: string;
  readonly logger: Logger;
}

/** Who builds without saying so has a second of patience in each of these. */
const nobodysPatienceMs = 60_000;

/** `stop` gives up what is being fetched, and waits for what is being kept. */
export function openSupplies(parts: SuppliesParts): Supplies & Service {
  const { store, outbox, farm, logger } = parts;
  const halves = halfFetched();
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
      // Not before: who asks meanwhile finds it in one of the two.
      halves.forget(result.project, result);
    } catch (err) {
      logger.warn({ err, key: result.key }, "a fetched result could not be kept here");
    }
  };

  const bringing = downloads({
    farm,
    blobs: store.blobs,
    onKept(digest) {
      for (const result of halves.arrived(digest)) {
        inBackground(settle(result), "a fetched result could not be kept here");
      }
    },
  });

  const roundTripMs = () => farm.line()?.roundTripMs;
  const patienceOfBuild = new WeakMap<Build, FarmPatience>();
  let nobodys = { patience: new FarmPatience(roundTripMs), since: performance.now() };
  const patienceOf = ({ build, madeAtFarm = false }: ForWhom): FarmPatience => {
    if (madeAtFarm) return new FarmPatience(roundTripMs, patienceAtFarm);
    if (build === undefined) {
      if (performance.now() - nobodys.since > nobodysPatienceMs) {
        nobodys = { patience: new FarmPatience(roundTripMs), since: performance.now() };
      }
      return nobodys.patience;
    }
    const patience = patienceOfBuild.get(build) ?? new FarmPatience(roundTripMs);
    patienceOfBuild.set(build, patience);
    return patience;
  };

  const blobsFor = (who: ForWhom) =>
    suppliedBlobs({ local: store.blobs, farm, downloads: bringing, halves, patienceOf }, who);

  const checks = crossChecks({
    share: parts.crossCheckShare,
    machine: parts.machine,
    bytesOf: (build, result) => blobsFor({ project: result.project, build }).get(result.value),
  });

  /** Two that ask for one result at a time share the search. */
  function find(who: ForWhom, key: Parameters<Supplies["result"]>[1]): Promise<Found> {
    const name = `${keyText(key)} ${who.project} ${who.build?.id ?? ""}`;
    const looking = lookingFor.get(name);
    if (looking !== undefined) return looking;
    const looked = lookFor(
      { store, farm, downloads: bringing, halves, settle },
      who,
      key,
      patienceOf(who),
    ).finally(() => lookingFor.delete(name));
    lookingFor.set(name, looked);
    return looked;
  }

  /** At once, as others are given it meanwhile; a farm that cannot be told now is told later. */
  async function tellOf(project: string, divergence: Divergence): Promise<void> {
    try {
      await farm.reportDivergence(project, divergence);
    } catch {
      await outbox.addDivergence(project, divergence);
    }
  }

  /** What differs from what was kept is for this machine alone: which of the two is right nobody knows yet. */
  async function isToBePublished(who: ForWhom, result: GranaryResult): Promise<boolean> {
    const divergence = await checks.divergence(who.build, result);
    if (divergence === undefined) return true;
    logger.warn(
      { divergence },
      `${result.namespace} ${result.key} came out otherwise when it was made again; the one that was kept is not used here any more`,
    );
    halves.forget(who.project, result);
    await store.forget(who.project, result);
    inBackground(
      tellOf(who.project, divergence),
      "the farm was not told of a result that came out otherwise",
    );
    return false;
  }

  return {
    async result(who, key) {
      const begun = performance.now();
      const { source, because, result } = await find(who, key);
      const isHidden = result !== undefined && checks.hides(who.build, result);
      const waitedMs = Math.round(performance.now() - begun);
      who.build?.asked(
        key,
        isHidden
          ? { source: "missed", because: "cross-check", waitedMs, result: undefined }
          : { source, because, waitedMs, result },
      );
      return isHidden ? undefined : result;
    },

    blobs: blobsFor,

    async keep(who, told) {
      const costMs = told.costMs ?? who.build?.tookMs?.(told);
      const result = { ...told, costMs };
      try {
        const toFarm = await isToBePublished(who, result);
        // Before it can be found: killed in between, this machine would have for good what the farm never gets.
        if (toFarm) await outbox.addResult(result);
        await store.keep(result);
        halves.forget(who.project, result);
        who.build?.made(result);
      } catch (err) {
        // A full disk costs the result, not the build.
        logger.warn(
          { err: messageOf(err), key: result.key },
          "what a build made could not be kept",
        );
      }
    },

    async forget(who, key) {
      halves.forget(who.project, key);
      await store.forget(who.project, key);
    },

    async stop() {
      await bringing.stop();
      await Promise.all(background);
    },
  };
}
