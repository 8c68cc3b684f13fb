import type { Clock } from "#core/clock.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import type { Tx } from "#db/db.ts";
import type { ExecutionRequest } from "../execution.ts";
import { meanDurations, type SimilarityKey } from "./expected-duration.store.ts";

/** How long a lookup is reused, in ms; it affects only the order of the queue. */
const callerCacheMs = 60_000;
/** About 100 bytes each. */
const mostKnown = 100_000;

interface Known {
  readonly until: number;
  /** Null when unknown. */
  readonly meanMs: number | null;
}

/** Estimates how long submitted executions take, from similar ones. */
interface DurationOracle {
  /** Returns the requests; adds a known expected duration to those without one. */
  predictGraph(tx: Tx, requests: readonly ExecutionRequest[]): Promise<readonly ExecutionRequest[]>;
}

export function durationOracle(clock: Clock): DurationOracle {
  const known = recentlyUsed<Known>(mostKnown);
  const believed = (key: string): Known | undefined => {
    const found = known.peek(key);
    return found !== undefined && found.until > clock.now().getTime() ? found : undefined;
  };

  return {
    async predictGraph(tx, requests) {
      const unknown = new Map<string, SimilarityKey>();
      for (const { project, similarityKeys = [], expectedDurationMs } of requests) {
        if (expectedDurationMs !== undefined) continue;
        for (const each of similarityKeys) {
          const key = textOf({ project, similarityKey: each });
          if (believed(key) === undefined) unknown.set(key, { project, similarityKey: each });
        }
      }
      if (unknown.size > 0) {
        const until = clock.now().getTime() + callerCacheMs;
        const found = await meanDurations(tx, [...unknown.values()]);
        for (const key of unknown.keys()) known.set(key, { until, meanMs: null });
        for (const each of found) known.set(textOf(each), { until, meanMs: each.meanMs });
      }
      return requests.map((request) => {
        if (request.expectedDurationMs !== undefined) return request;
        for (const similarityKey of request.similarityKeys ?? []) {
          const meanMs = believed(textOf({ project: request.project, similarityKey }))?.meanMs;
          if (typeof meanMs === "number")
            return { ...request, expectedDurationMs: Math.round(meanMs) };
        }
        return request;
      });
    },
  };
}

function textOf({ project, similarityKey }: SimilarityKey): string {
  return `${similarityKey} ${project}`;
}
