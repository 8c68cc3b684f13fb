import type { TransferLimits } from "#commit-index/order-transfer.ts";
import { keyText } from "#commit-index/result-key.ts";
import type { Service } from "#core/service.ts";
import type { GranaryFarm } from "../farm/granary-farm.ts";
import type { SharedTransfers } from "../prefetch/shared-transfers.ts";
import { type RunningPrefetch, startPrefetch } from "../prefetch/start-prefetch.ts";
import type { FetchAheadAnswer } from "../protocol/answers.ts";
import type { GranaryStore } from "../store/granary-store.ts";
import type { BuildFacts } from "./build-facts.ts";
import { type PlanParts, planPrefetch } from "./plan-prefetch.ts";

interface AheadParts {
  readonly store: GranaryStore;
  readonly farm: GranaryFarm;
  readonly shared: SharedTransfers;
  readonly changedSince: PlanParts["changedSince"];
  readonly limits: TransferLimits;
  readonly bytesPerSecond?: number | undefined;
  readonly note: (message: string) => void;
}

/** Prefetches for a future build of the commit that Git has just checked out. */
interface FetchingAhead extends Service {
  fetch(facts: BuildFacts, dryRun: boolean): Promise<FetchAheadAnswer>;
}

/** The assumed time between a checkout and its build, in ms: long enough that everything is in time. */
const aheadOfBuildMs = 3_600_000;

export function fetchingAhead(parts: AheadParts): FetchingAhead {
  const { store, farm } = parts;
  const underWay = new Map<
    string,
    { readonly abort: AbortController; prefetch: RunningPrefetch }
  >();

  function start(project: string): RunningPrefetch {
    const since = performance.now();
    return startPrefetch({
      project,
      store,
      farm,
      shared: parts.shared,
      limits: parts.limits,
      bytesPerSecond: parts.bytesPerSecond,
      // The build has not started, so everything is in time.
      elapsedMs: () => performance.now() - since - aheadOfBuildMs,
    });
  }

  return {
    async fetch(facts, dryRun) {
      const { project } = facts;
      const abort = new AbortController();
      const prefetch = start(project);
      const missing = new Map<string, number>();
      const counting: RunningPrefetch = {
        ...prefetch,
        expect(entries, mayHave) {
          for (const { entry } of entries) {
            const blobs = entry.blobs.filter((blob) => !store.hasBlob(blob));
            if (blobs.length === 0 && store.has(project, entry)) continue;
            missing.set(
              keyText(entry),
              blobs.reduce((sum, blob) => sum + blob.sizeBytes, 0),
            );
          }
          if (!dryRun) prefetch.expect(entries, mayHave);
        },
      };
      const name = `${project} ${facts.root ?? ""}`;
      if (!dryRun) {
        // After another checkout the earlier commit will not be built.
        const before = underWay.get(name);
        before?.abort.abort();
        underWay.set(name, { abort, prefetch });
        await before?.prefetch.stop();
      }
      const plan = { store, farm, changedSince: parts.changedSince, note: parts.note };
      const { indexes } = await planPrefetch(plan, facts, counting, abort.signal);
      const over = (async () => {
        if (!dryRun) await prefetch.settled();
        await prefetch.stop();
        if (underWay.get(name)?.prefetch === prefetch) underWay.delete(name);
      })();
      if (dryRun) await over;
      const bytes = [...missing.values()].reduce((sum, size) => sum + size, 0);
      return { indexes: [...indexes], results: missing.size, bytes };
    },

    async stop() {
      const all = [...underWay.values()];
      underWay.clear();
      for (const { abort } of all) abort.abort();
      await Promise.all(all.map(({ prefetch }) => prefetch.stop()));
    },
  };
}
