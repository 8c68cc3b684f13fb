import type { CollectorView } from "#api/collector.ts";
import type { Tx } from "#db/db.ts";
import type { LabTimes } from "../lab-times.ts";
import { collectorState } from "./collector-state.ts";
import {
  type ListedCollector,
  listCollectors,
  type RunningJobOfCollector,
  runningJobsOfCollectors,
} from "./list-collectors.store.ts";

/** Returns collectors as pages show them: all, or the named one. */
export async function collectorViews(
  tx: Tx,
  now: Date,
  { leaseMs }: Pick<LabTimes, "leaseMs">,
  name?: string,
): Promise<CollectorView[]> {
  const listed = await listCollectors(tx, name ?? null);
  const jobs = new Map((await runningJobsOfCollectors(tx)).map((job) => [job.collector, job]));
  return listed.map((collector) => {
    const { addedAt, lastHeartbeatAt } = collector;
    const job = jobs.get(collector.name);
    return {
      name: collector.name,
      target: collector.target,
      set: collector.set,
      mayTakeOver: collector.mayTakeOver,
      active: collector.active,
      outOfDuty: collector.outOfDuty,
      version: collector.version,
      environment: collector.environment,
      fingerprint: collector.fingerprint,
      meanJobSeconds: collector.meanJobSeconds,
      state: collectorState({ ...collector, hasJob: job !== undefined }, now, leaseMs),
      addedAt: addedAt.toISOString(),
      lastHeartbeatAt: lastHeartbeatAt?.toISOString() ?? null,
      job: job === undefined ? null : jobView(job),
      selfTest: selfTestOf(collector),
    };
  });
}

function selfTestOf({ testAt, testPassed, testComparisons, testAlarms }: ListedCollector) {
  if (testAt === null) return null;
  return {
    at: testAt.toISOString(),
    passed: testPassed ?? false,
    comparisons: testComparisons ?? 0,
    alarms: testAlarms ?? 0,
  };
}

function jobView(job: RunningJobOfCollector): NonNullable<CollectorView["job"]> {
  return {
    ...job,
    createdAt: job.createdAt.toISOString(),
    startedAt: job.startedAt?.toISOString() ?? null,
    endedAt: null,
    error: null,
  };
}
