import { readUnservedPlaces } from "#perf/requests/announce-unserved.ts";
import type { DesiredWorkersService } from "#size-classes/desired-workers-service.ts";
import { eventLoopLag } from "./event-loop-lag.ts";
import { farmMetrics } from "./farm-metrics.ts";
import type { MetricFamily } from "./http/metrics-text.ts";
import type { Services } from "./services.ts";

/** What scrapers get of the server's services. */
export function metricFamilies(
  { db, clock, queue, caches, eviction, trees, labTimes }: Services,
  scaling: DesiredWorkersService,
): () => Promise<MetricFamily[]> {
  const now = () => clock.now();
  return farmMetrics({
    db,
    now,
    leaseMs: queue.times.leaseMs,
    unservedBenchmarks: () => readUnservedPlaces(db, now(), labTimes),
    cacheCounter: caches.counter,
    seals: trees.seals.counts,
    store: () => eviction.standing(),
    scaling,
    lag: eventLoopLag(() => now().getTime()),
  });
}
