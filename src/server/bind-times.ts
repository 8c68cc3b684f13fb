import { metricDefinitions } from "#graphs/times/metric.store.ts";
import { metricValue } from "#graphs/times/metric-value.store.ts";
import { setMetric } from "#graphs/times/set-metric.ts";
import { timesOfGraphs, timesOfRuns } from "#graphs/times/times.store.ts";
import { readUnservedPlaces } from "#perf/requests/announce-unserved.ts";
import type { DesiredWorkersService } from "#size-classes/desired-workers-service.ts";
import { eventLoopLag } from "./event-loop-lag.ts";
import { farmMetrics } from "./farm-metrics.ts";
import type { TimesFarm } from "./http/times-farm.ts";
import type { Services } from "./services.ts";

/** What people were promised: 95 % start within 15 minutes. */
const goal = { withinSeconds: 900, share: 0.95 };

export function bindTimes(
  {
    db,
    clock,
    queue,
    caches,
    eviction,
    trees,
    labTimes,
  }: Pick<Services, "db" | "clock" | "queue" | "caches" | "eviction" | "trees" | "labTimes">,
  scaling: DesiredWorkersService,
): TimesFarm {
  const now = () => clock.now();
  const metricFamilies = farmMetrics({
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

  async function valueOf(name: string) {
    const metric = (await metricDefinitions(db)).find((each) => each.name === name);
    return metric === undefined ? undefined : metricValue(db, metric, now());
  }

  return {
    metricFamilies,
    metrics: () => metricDefinitions(db),
    metric: valueOf,

    async times({ repository, branch, group, windowMs }) {
      const until = now();
      const from = new Date(until.getTime() - windowMs);
      const of = { repository, branch, from, until };
      const runs = await timesOfRuns(db, of, group, goal.withinSeconds);
      const graphs = await timesOfGraphs(db, of, group);
      const record = (await metricDefinitions(db)).find(({ ofRecord }) => ofRecord);
      return {
        repository: repository ?? null,
        branch: branch ?? null,
        window: {
          from: from.toISOString(),
          until: until.toISOString(),
          seconds: Math.round(windowMs / 1_000),
        },
        group,
        goal,
        all: runs.all,
        groups: [...runs.groups],
        graphs: graphs.all,
        graphGroups: [...graphs.groups],
        record: record === undefined ? null : await metricValue(db, record, until),
      };
    },

    async setMetric(metric, by) {
      await setMetric(db, metric, by);
      return metricValue(db, metric, now());
    },
  };
}
