import { recordAudit } from "#access/audit.store.ts";
import type { Principal } from "#access/principal.ts";
import { requireGrant } from "#access/require-grant.ts";
import { CollectorName, type CollectorView } from "#api/collector.ts";
import type { benchmarkCollectorEndpoints } from "#api/endpoints/benchmark-collector-endpoints.ts";
import type { Tx } from "#db/db.ts";
import {
  addCollector,
  changeCollector,
  noSuchCollector,
  removeCollector,
} from "#perf/collectors/change-register.ts";
import { collectorViews } from "#perf/collectors/collector-views.ts";
import { registerCollectorProcess } from "#perf/collectors/register-collector-process.ts";
import { reportSelfTest } from "#perf/collectors/report-self-test.ts";
import { benchmarkClaimDispatcher } from "#perf/jobs/claim-dispatcher.ts";
import { beat, endJob } from "#perf/jobs/end-job.ts";
import { testReports } from "#perf/results/report-test.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import { version } from "../version.ts";
import type { HandlerServices } from "./handler-services.ts";

export function benchmarkCollectorHandlers({
  db,
  clock,
  labTimes: times,
  feeds,
}: Pick<HandlerServices, "db" | "clock" | "labTimes" | "feeds">): HandlersFor<
  typeof benchmarkCollectorEndpoints
> {
  const changes = () => feeds.benchmarks.ticket("");
  const claims = benchmarkClaimDispatcher({ db, clock, times, changes });
  const reports = testReports({ db, clock, times });
  const viewOf = async (tx: Tx, name: string): Promise<CollectorView> => {
    const [view] = await collectorViews(tx, clock.now(), times, name);
    if (view === undefined) throw noSuchCollector(name);
    return view;
  };

  return {
    async benchmarkCollectors() {
      return { collectors: await collectorViews(db, clock.now(), times) };
    },

    addBenchmarkCollector: ({ body, caller }) =>
      db.transaction(async (tx) => {
        await addCollector(tx, body, caller.name, clock.now());
        await recordAudit(tx, administered(caller, { what: "add collector", ...body }));
        return viewOf(tx, body.name);
      }),

    changeBenchmarkCollector: ({ params: { name }, body, caller }) =>
      db.transaction(async (tx) => {
        await changeCollector(tx, name, body);
        await recordAudit(tx, administered(caller, { what: "change collector", name, ...body }));
        return viewOf(tx, name);
      }),

    removeBenchmarkCollector: ({ params: { name }, caller }) =>
      db.transaction(async (tx) => {
        await removeCollector(tx, name);
        await recordAudit(tx, administered(caller, { what: "remove collector", name }));
        return {};
      }),

    async benchmarkCollectorHello({ params: { name }, body, caller }) {
      requireMeasure(caller, name);
      const welcome = await db.transaction((tx) =>
        registerCollectorProcess(tx, name, body, clock.now()),
      );
      return { ...welcome, serverVersion: version, heartbeatMs: times.heartbeatMs };
    },

    async claimBenchmarkJob({ params: { name }, body, caller, context }) {
      requireMeasure(caller, name);
      // Waits for work until the client disconnects at the latest.
      const { job, because, selfTestDue } = await claims.claim(name, body, context.req.raw.signal);
      return { job, because, selfTestDue, serverVersion: version };
    },

    reportBenchmarkSelfTest({ params: { name }, body, caller }) {
      requireMeasure(caller, name);
      return db.transaction((tx) => reportSelfTest(tx, name, body, clock.now()));
    },

    benchmarkJobHeartbeat({ params: { job }, body: { holder }, caller }) {
      requireMeasure(caller, holder.collector);
      return db.transaction((tx) => beat(tx, job, holder, clock.now(), times));
    },

    reportBenchmarkTest({ params: { job }, body, caller }) {
      requireMeasure(caller, body.holder.collector);
      return reports.report(job, body);
    },

    endBenchmarkJob({ params: { job }, body: { holder, end }, caller }) {
      requireMeasure(caller, holder.collector);
      return db.transaction((tx) => endJob(tx, job, holder, end, clock.now(), times));
    },
  };
}

/** A grant's pattern of repositories is one of collectors here: their names have no `/`. */
function requireMeasure(by: Principal, collector: string): void {
  if (!CollectorName.safeParse(collector).success) throw noSuchCollector(collector);
  requireGrant(by, "measure", { repository: collector, branch: "" });
}

function administered(by: Principal, detail: Readonly<Record<string, unknown>>) {
  return { actor: by.name, verb: "administer", detail } as const;
}
