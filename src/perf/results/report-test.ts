import type { z } from "zod";
import type { ReportedTest, ReportTest } from "#api/collector.ts";
import type { Clock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";
import { keepableText } from "#core/keepable-text.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import { caseKey } from "#core/test-case.ts";
import type { Db, Tx } from "#db/db.ts";
import { together } from "#db/together.ts";
import { metricsOf } from "#suites/metrics-of.ts";
import { explainRefusal } from "../jobs/explain-refusal.ts";
import { jobCases } from "../jobs/job-cases.ts";
import { extendLease, jobStanding, recordError } from "../jobs/leased-job.store.ts";
import type { LabTimes } from "../lab-times.ts";
import { deriveResult, insertIterations, insertPairs } from "./figures.store.ts";
import { figuresInOrder } from "./figures-in-order.ts";
import { workOfJob } from "./job-work.store.ts";
import { caseIds, metricOrdinals } from "./name-figures.store.ts";

type Report = z.output<typeof ReportTest>;

/** The data against which all reports of a job are checked. */
interface Ground {
  readonly isPaired: boolean;
  /** By the keys of the cases. */
  readonly cases: ReadonlyMap<string, number>;
  readonly ordinals: ReadonlyMap<string, number>;
  /** Numbers of metrics for which more is better. */
  readonly higher: readonly number[];
}

/** The maximum number of jobs in progress at one server. */
const mostGrounds = 100;
const longestError = 20_000;
const longestWarning = 200;

/** Stores the measurements of collectors. */
interface TestReports {
  report(jobId: string, report: Report): Promise<ReportedTest>;
}

/**
 * Stores a report completely or not at all; a repeated report is accepted and changes nothing.
 *
 * Cases and metrics get their numbers in an earlier transaction: the numbers stay when the report is refused, and a
 * transaction that locks a job's row does not wait for numbers.
 */
export function testReports(parts: {
  readonly db: Db;
  readonly clock: Clock;
  readonly times: LabTimes;
}): TestReports {
  const { db, clock, times } = parts;
  const grounds = recentlyUsed<Promise<Ground>>(mostGrounds);

  return {
    async report(jobId, report) {
      const ground = await grounds.get(jobId, () => db.transaction((tx) => readGround(tx, jobId)));
      const figures = checkReport(report, ground);
      const now = clock.now();
      return db.transaction(async (tx) => {
        const { holder } = report;
        const until = new Date(now.getTime() + times.leaseMs);
        const held = await extendLease(tx, jobId, holder, now, until);
        if (held === undefined)
          throw explainRefusal(jobId, await jobStanding(tx, jobId, holder.collector), holder);
        const { artifactId, againstId, purpose, environmentId } = held;
        const { caseId } = figures;
        const { collector, epoch } = holder;
        const taken = { artifactId, caseId, environmentId, collector, jobId, epoch, at: now };
        const [iterations, , pairs] = await together([
          figures.iterations.length === 0 ? 0 : insertIterations(tx, taken, figures.iterations),
          figures.iterations.length === 0 ? undefined : deriveResult(tx, taken, ground.higher),
          figures.pairs.length === 0 || againstId === null
            ? 0
            : insertPairs(tx, { ...taken, againstId, purpose }, figures.pairs),
          report.error === undefined
            ? undefined
            : recordError(tx, { ...taken, ...failureOf(report, report.error) }, now),
        ]);
        return { iterations, pairs };
      });
    },
  };
}

async function readGround(tx: Tx, jobId: string): Promise<Ground> {
  const work = await workOfJob(tx, jobId);
  if (work === undefined) throw new Fault("not_found", `there is no benchmark job ${jobId}`);
  const metrics = metricsOf(work.definition);
  const ordinals = await metricOrdinals(tx, work.suite, metrics);
  const own = new Map(metrics.map(({ name }) => [name, ordinals.get(name) ?? 0]));
  return {
    isPaired: work.purpose === "paired" || work.purpose === "confirm",
    cases: await caseIds(tx, work.suite, jobCases(work.definition, work)),
    // A metric that the suite no longer defines does not belong to this job, even if other results have it.
    ordinals: own,
    higher: metrics
      .filter(({ better }) => better === "higher")
      .map(({ name }) => own.get(name) ?? 0),
  };
}

/** Returns a report's figures in their stored form. Throws for invalid ones. */
function checkReport(report: Report, { isPaired, cases, ordinals }: Ground) {
  const key = caseKey(report.case);
  const caseId = cases.get(key);
  if (caseId === undefined)
    throw new Fault(
      "invalid_argument",
      `"${key}" is not a test case of this job: report only the cases that the job names`,
    );
  const { iterations, pairs, error } = report;
  if (iterations.length + pairs.length === 0 && error === undefined)
    throw new Fault("invalid_argument", `the report of "${key}" has no values and no error`);
  if (isPaired ? iterations.length > 0 : pairs.length > 0) {
    throw new Fault(
      "invalid_argument",
      isPaired
        ? "this job is measured in pairs: its iterations would become part of a baseline"
        : "this job is not measured in pairs",
    );
  }
  // Without figures there is no best value.
  if (iterations.some(({ values }) => Object.keys(values).length === 0))
    throw new Fault(
      "invalid_argument",
      `an iteration of "${key}" has no value: report the reason as an error`,
    );
  refuseRepeated(
    "iteration",
    iterations.map(({ iteration }) => iteration),
  );
  refuseRepeated(
    "pair",
    pairs.map(({ pair }) => pair),
  );
  return {
    caseId,
    iterations: iterations.map(({ iteration, values, warnings }) => ({
      iteration,
      sample: figuresInOrder(values, ordinals),
      warnings: warnings.map((warning) => keepableText(warning, longestWarning)),
    })),
    pairs: pairs.map(({ pair, child, parent, parentFirst }) => ({
      pair,
      child: figuresInOrder(child, ordinals),
      parent: figuresInOrder(parent, ordinals),
      first: parentFirst,
    })),
  };
}

function refuseRepeated(what: string, numbers: readonly number[]): void {
  if (new Set(numbers).size !== numbers.length)
    throw new Fault(
      "invalid_argument",
      `two of the reported have the same number: report each ${what} once`,
    );
}

function failureOf(report: Report, error: string) {
  return { benchmark: report.case.benchmark, message: keepableText(error, longestError) };
}
