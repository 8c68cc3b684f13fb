import { recordAudit } from "#access/audit.store.ts";
import { type Principal, wholeFarm } from "#access/principal.ts";
import { requireGrant } from "#access/require-grant.ts";
import { parseSelection } from "#api/selection/parse-selection.ts";
import { asksAbout } from "#api/selection/selection.ts";
import type { MetricDefinition } from "#api/times.ts";
import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import { keepMetric, metricDefinitions } from "./metric.store.ts";

/** Creates a metric, or changes its definition; this also changes its past values. */
export async function setMetric(db: Db, metric: MetricDefinition, by: Principal): Promise<void> {
  requireGrant(by, "administer", wholeFarm);
  assertMeasurable(metric);
  await db.transaction(async (tx) => {
    const known = (await metricDefinitions(tx)).find(({ name }) => name === metric.name);
    if (known?.ofRecord === true && !metric.ofRecord) {
      const message = `${metric.name} is the metric of record; name another one of record instead`;
      throw new Fault("failed_precondition", message);
    }
    await keepMetric(tx, metric);
    const detail = { metric: metric.name, before: known ?? null, after: metric };
    await recordAudit(tx, { actor: by.name, verb: "administer", detail });
  });
}

function assertMeasurable({ measure, filter, group }: MetricDefinition): void {
  switch (measure) {
    case "wait":
    case "run": {
      if (filter === "") return;
      if (!asksAbout(parseSelection(filter), "state")) return;
      const message =
        "a metric selects jobs by name, tag or kind, not by state: the farm knows only the current state of a job";
      throw new Fault("invalid_argument", message);
    }
    case "end-to-end":
    case "first-failure":
    case "critical-path": {
      if (filter === "" && (group === null || group === "branch")) return;
      const message = `${measure} is a time of whole graphs: it has no selection, and is grouped by branch or not at all`;
      throw new Fault("invalid_argument", message);
    }
  }
}
