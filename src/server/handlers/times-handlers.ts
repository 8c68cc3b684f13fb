import { wholeFarm } from "#access/principal.ts";
import { mayDo } from "#access/require-grant.ts";
import type { timesEndpoints } from "#api/endpoints/times-endpoints.ts";
import { MetricDefinition } from "#api/times.ts";
import { Fault } from "#core/fault.ts";
import { parseDuration } from "#definitions/duration.ts";
import { metricDefinitions } from "#graphs/times/metric.store.ts";
import { metricValue } from "#graphs/times/metric-value.store.ts";
import { setMetric } from "#graphs/times/set-metric.ts";
import { timesOfGraphs, timesOfRuns } from "#graphs/times/times.store.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import { found } from "./found.ts";
import type { HandlerServices } from "./handler-services.ts";

/** The goal that pages show: 95 % of runs start within 15 minutes. */
const goal = { withinSeconds: 900, share: 0.95 };

const yearMs = 366 * 86_400_000;

export function timesHandlers({ db, clock }: HandlerServices): HandlersFor<typeof timesEndpoints> {
  return {
    async times({ query: { repository, branch, group, window }, caller, reads }) {
      const windowMs = windowFrom(window);
      const until = clock.now();
      const from = new Date(until.getTime() - windowMs);
      const of = { repository, branch, from, until };
      const runs = await timesOfRuns(reads, of, group, goal.withinSeconds);
      const graphs = await timesOfGraphs(reads, of, group);
      // Metrics are of the whole farm.
      const metrics = mayDo(caller, "read", wholeFarm) ? await metricDefinitions(reads) : [];
      const record = metrics.find(({ ofRecord }) => ofRecord);
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
        groups: runs.groups,
        graphs: graphs.all,
        graphGroups: graphs.groups,
        record: record === undefined ? null : await metricValue(reads, record, until),
      };
    },
    metrics: () => metricDefinitions(db),
    async metric({ params: { name }, reads }) {
      const metric = (await metricDefinitions(reads)).find((each) => each.name === name);
      return metricValue(reads, found(metric, `metric "${name}"`), clock.now());
    },
    async setMetric({ params: { name }, body, caller }) {
      const metric = MetricDefinition.parse({ ...body, name });
      await setMetric(db, metric, caller);
      return metricValue(db, metric, clock.now());
    },
  };
}

function windowFrom(text: string): number {
  const ms = parseDuration(text) ?? 0;
  if (ms >= 60_000 && ms <= yearMs) return ms;
  throw new Fault("invalid_argument", "window must be a duration from 1m to 366d, such as 7d");
}
