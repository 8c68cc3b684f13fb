import { randomUUID } from "node:crypto";
import { z } from "zod";
import { JobState } from "#api/benchmark-request.ts";
import type { ClaimedBenchmarkJob } from "#api/collector.ts";
import { AddCollector, ClaimBenchmarkJob, type JobEnd, ReportTest } from "#api/collector.ts";
import type { TestCase } from "#core/test-case.ts";
import type { Db } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { metricsOf } from "#suites/metrics-of.ts";
import { addCollector } from "../collectors/change-register.ts";
import { registerCollectorProcess } from "../collectors/register-collector-process.ts";
import { type LabTimes, labTimes } from "../lab-times.ts";
import { aSuite, figuresOf, holderOf, labClock } from "../perf.fixture.ts";
import { testReports } from "../results/report-test.ts";
import { benchmarkClaimDispatcher, type ChangeTicket } from "./claim-dispatcher.ts";
import { beat, endJob, endSilentLeases } from "./end-job.ts";

const never = new AbortController().signal;
/** For tests that do not wait. */
const noChanges = (): ChangeTicket => ({ changed: async () => {}, drop() {} });

/** A server as collectors see it, with a clock that the test controls. */
export function aLabServer(
  db: Db,
  clock = labClock(),
  times: LabTimes = labTimes,
  changes: () => ChangeTicket = noChanges,
) {
  const service = benchmarkClaimDispatcher({ db, clock, times, changes });
  const reports = testReports({ db, clock, times });
  return {
    clock,
    times,
    reports,
    service,
    add: (wanted: z.input<typeof AddCollector>) =>
      db.transaction((tx) => addCollector(tx, AddCollector.parse(wanted), "tester", clock.now())),
    hello: (name: string, incarnation: string, environment: Record<string, string> = { name }) =>
      db.transaction((tx) =>
        registerCollectorProcess(tx, name, { incarnation, version: "1", environment }, clock.now()),
      ),
    claim: (name: string, incarnation: string, waitMs = 0, signal: AbortSignal = never) =>
      service.claim(name, ClaimBenchmarkJob.parse({ incarnation, waitMs }), signal),
    beat: (id: string, holder: ReturnType<typeof holderOf>) =>
      db.transaction((tx) => beat(tx, id, holder, clock.now(), times)),
    end: (id: string, holder: ReturnType<typeof holderOf>, end: JobEnd) =>
      db.transaction((tx) => endJob(tx, id, holder, end, clock.now(), times)),
    endSilent: () => db.transaction((tx) => endSilentLeases(tx, clock.now(), times)),
    report: (
      id: string,
      holder: ReturnType<typeof holderOf>,
      testCase: TestCase,
      rest: Partial<z.input<typeof ReportTest>> = { iterations: figuresOf(testCase) },
    ) =>
      reports.report(
        id,
        ReportTest.parse({ holder, case: testCase, metrics: metricsOf(aSuite()), ...rest }),
      ),
  };
}

export type LabServer = ReturnType<typeof aLabServer>;

/** Registers a collector and lets a process of it say hello. */
export async function aCollector(
  server: LabServer,
  wanted: Partial<z.input<typeof AddCollector>> = {},
) {
  const name = wanted.name ?? `c-${randomUUID().slice(0, 8)}`;
  await server.add({ target: "linux-x64", set: 0, ...wanted, name });
  return aProcess(server, name);
}

/** A new process of a collector. */
export async function aProcess(server: LabServer, name: string) {
  const incarnation = randomUUID();
  await server.hello(name, incarnation);
  const holder = (job: Pick<ClaimedBenchmarkJob, "epoch">) => holderOf(name, incarnation, job);
  return {
    name,
    incarnation,
    holder,
    claim: async () => (await server.claim(name, incarnation)).job,
    because: async () => (await server.claim(name, incarnation)).because,
    beat: (job: ClaimedBenchmarkJob) => server.beat(job.id, holder(job)),
    /** Returns figures for everything that is left of a job. */
    async measure(job: ClaimedBenchmarkJob) {
      for (const each of job.cases) await server.report(job.id, holder(job), each.case);
    },
    end: (job: ClaimedBenchmarkJob, end: JobEnd = { outcome: "success" }) =>
      server.end(job.id, holder(job), end),
  };
}

const JobRow = z.object({
  id: z.string(),
  state: JobState,
  attempts: z.number(),
  epoch: z.number(),
  collector: z.string().nullable(),
  error: z.string().nullable(),
  notBefore: z.date(),
});
export type JobRow = z.infer<typeof JobRow>;

export function jobRows(db: Db): Promise<JobRow[]> {
  return db.many(
    JobRow,
    sql`
      select id, state, attempts, epoch, collector_name as collector, error, not_before as "notBefore"
      from benchmark_job order by id
    `,
  );
}

export async function jobRow(db: Db, id: string): Promise<JobRow> {
  const row = (await jobRows(db)).find((job) => job.id === id);
  if (row === undefined) throw new Error(`no job ${id}`);
  return row;
}

/** Changes the table as the cancellation of its request does. */
export async function cancelInTable(db: Db, id: string, now: Date): Promise<void> {
  await db.run(sql`
    update benchmark_job set state = 'cancelled', ended_at = ${now}, lease_until = null
    where id = ${id} and state in ('queued', 'in-progress')
  `);
}
