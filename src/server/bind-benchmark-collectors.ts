import { type Principal, wholeFarm } from "#access/principal.ts";
import { requireGrant } from "#access/require-grant.ts";
import { CollectorName, type CollectorView } from "#api/collector.ts";
import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import { recordAudit } from "#graphs/audit.store.ts";
import {
  addCollector,
  changeCollector,
  noSuchCollector,
  removeCollector,
} from "#perf/collectors/change-register.ts";
import { collectorViews } from "#perf/collectors/collector-views.ts";
import { reportSelfTest } from "#perf/collectors/report-self-test.ts";
import { sayHello } from "#perf/collectors/say-hello.ts";
import { benchmarkClaimDispatcher } from "#perf/jobs/claim-dispatcher.ts";
import { beat, endJob } from "#perf/jobs/end-job.ts";
import { testReports } from "#perf/results/report-test.ts";
import type { ChangeFeed } from "./change-feed.ts";
import type { BenchmarkCollectorFarm } from "./http/benchmark-collector-farm.ts";
import type { Services } from "./services.ts";
import { version } from "./version.ts";

/** Collectors, for the HTTP API. `changes` hears what changes in the lab. */
export function bindBenchmarkCollectors(
  { db, clock, labTimes: times }: Pick<Services, "db" | "clock" | "labTimes">,
  changes: Pick<ChangeFeed, "ticket">,
): BenchmarkCollectorFarm {
  const service = benchmarkClaimDispatcher({ db, clock, times, changes: () => changes.ticket("") });
  const reports = testReports({ db, clock, times });

  return {
    benchmarkCollectors: () => collectorViews(db, clock.now(), times),

    async addBenchmarkCollector(wanted, by) {
      requireGrant(by, "administer", wholeFarm);
      return db.transaction(async (tx) => {
        await addCollector(tx, wanted, by.name, clock.now());
        await recordAudit(tx, administered(by, { what: "add collector", ...wanted }));
        return viewOf(tx, wanted.name);
      });
    },

    async changeBenchmarkCollector(name, change, by) {
      requireGrant(by, "administer", wholeFarm);
      return db.transaction(async (tx) => {
        await changeCollector(tx, name, change);
        await recordAudit(tx, administered(by, { what: "change collector", name, ...change }));
        return viewOf(tx, name);
      });
    },

    async removeBenchmarkCollector(name, by) {
      requireGrant(by, "administer", wholeFarm);
      await db.transaction(async (tx) => {
        await removeCollector(tx, name);
        await recordAudit(tx, administered(by, { what: "remove collector", name }));
      });
    },

    async benchmarkCollectorHello(name, hello, by) {
      requireMeasure(by, name);
      const welcome = await db.transaction((tx) => sayHello(tx, name, hello, clock.now()));
      return { ...welcome, serverVersion: version, heartbeatMs: times.heartbeatMs };
    },

    async claimBenchmarkJob(name, claim, by, signal) {
      requireMeasure(by, name);
      return { ...(await service.claim(name, claim, signal)), serverVersion: version };
    },

    async reportBenchmarkSelfTest(name, report, by) {
      requireMeasure(by, name);
      return db.transaction((tx) => reportSelfTest(tx, name, report, clock.now()));
    },

    async benchmarkJobHeartbeat(id, holder, by) {
      requireMeasure(by, holder.collector);
      return db.transaction((tx) => beat(tx, jobId(id), holder, clock.now(), times));
    },

    async reportBenchmarkTest(id, report, by) {
      requireMeasure(by, report.holder.collector);
      return reports.report(jobId(id), report);
    },

    async endBenchmarkJob(id, { holder, end }, by) {
      requireMeasure(by, holder.collector);
      return db.transaction((tx) => endJob(tx, jobId(id), holder, end, clock.now(), times));
    },
  };

  async function viewOf(tx: Parameters<Parameters<Db["transaction"]>[0]>[0], name: string) {
    const [view]: CollectorView[] = await collectorViews(tx, clock.now(), times, name);
    if (view === undefined) throw noSuchCollector(name);
    return view;
  }
}

/** A grant's pattern of repositories is one of collectors here: their names have no `/`. */
function requireMeasure(by: Principal, collector: string): void {
  if (!CollectorName.safeParse(collector).success) throw noSuchCollector(collector);
  requireGrant(by, "measure", { repository: collector, branch: "" });
}

function administered(by: Principal, detail: Readonly<Record<string, unknown>>) {
  return { actor: by.name, verb: "administer", detail } as const;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function jobId(text: string): string {
  if (!uuid.test(text)) throw new Fault("invalid_argument", `"${text}" is no benchmark job's id`);
  return text;
}
