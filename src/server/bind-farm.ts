import { readUnservedPlaces } from "#perf/requests/announce-unserved.ts";
import type { DesiredWorkersService } from "#size-classes/desired-workers-service.ts";
import { eventLoopLag } from "./event-loop-lag.ts";
import { farmMetrics } from "./farm-metrics.ts";
import { webhookTaker } from "./forge/webhook-taker.ts";
import type { Farm } from "./http/farm.ts";
import type { MetricFamily } from "./http/metrics-text.ts";
import type { Services } from "./services.ts";
import { browserSignIn } from "./sign-in/browser-sign-in.ts";

/** `url` is the farm's own address. */
export function bindFarm(services: Services, url: string): Farm {
  return {
    identify: (...request) => services.callers.identify(...request),
    metricFamilies: metricFamilies(services, services.desiredWorkers),
    ...webhookTaker(services),
    ...browserSignIn(services, url),
  };
}

/** Returns the metric families of the server's services. */
function metricFamilies(
  {
    db,
    replicas,
    replicaReads,
    clock,
    queue,
    caches,
    storeStanding,
    trees,
    labTimes,
    imagePulls,
  }: Services,
  scaling: DesiredWorkersService,
): () => Promise<MetricFamily[]> {
  const now = () => clock.now();
  return farmMetrics({
    db,
    replicas,
    replicaReads,
    now,
    leaseMs: queue.times.leaseMs,
    unservedBenchmarks: () => readUnservedPlaces(db, now(), labTimes),
    cacheCounter: caches.counter,
    seals: trees.seals.counts,
    pulls: imagePulls,
    store: storeStanding,
    scaling,
    lag: eventLoopLag(() => now().getTime()),
  });
}
