import type { z } from "zod";
import type { ReportedSelfTest, ReportSelfTest } from "#api/collector.ts";
import { Fault } from "#core/fault.ts";
import { caseKey, type TestCase } from "#core/test-case.ts";
import type { Tx } from "#db/db.ts";
import { metricsOf } from "#suites/metrics-of.ts";
import type { Suite } from "#suites/suite.ts";
import { keepAlarms } from "../alarms/lab-alarm.store.ts";
import { notifyBenchmarkChange } from "../change.store.ts";
import { caseIds, metricOrdinals } from "../results/name-figures.store.ts";
import { findSuite } from "../suites.store.ts";
import { noSuchCollector } from "./change-register.ts";
import { lockCollector, updateCollector } from "./collector.store.ts";
import { dutyAfterTest, judgeSelfTest } from "./judge-self-test.ts";
import { insertNoise, insertSelfTest, type NoiseRow } from "./self-test.store.ts";

type Report = z.output<typeof ReportSelfTest>;

/** JSON escapes of characters that PostgreSQL cannot store. */
const unkeepable = /\\u(0000|d[89a-f][0-9a-f]{2})/;

/** Stores the result of a collector's self-test, and whether it may continue to measure. */
export async function reportSelfTest(
  tx: Tx,
  name: string,
  report: Report,
  now: Date,
): Promise<ReportedSelfTest> {
  const { comparisons, alarms, detail } = report;
  if (alarms > comparisons)
    throw new Fault(
      "invalid_argument",
      `a report with ${alarms} alarms in ${comparisons} comparisons is wrong`,
    );
  if (unkeepable.test(JSON.stringify(detail)))
    throw new Fault(
      "invalid_argument",
      "the detail cannot be stored: a text in it contains a NUL character or half of a surrogate pair",
    );
  const noise = await numbersOf(tx, report.noise);
  const collector = await lockCollector(tx, name);
  if (collector === undefined) throw noSuchCollector(name);
  if (collector.incarnation !== report.incarnation)
    throw new Fault(
      "aborted",
      `another process now acts for collector ${name}: this process must end`,
    );
  const foreign = report.noise.find((each) => each.case.target !== collector.target);
  if (foreign !== undefined)
    throw new Fault(
      "invalid_argument",
      `collector ${name} measures on ${collector.target}: it cannot report the noise of ${foreign.case.target}`,
    );
  const judgement = judgeSelfTest(report);
  const { passed } = judgement;
  const test = { collector: name, comparisons, alarms, passed, detail };
  if (!(await insertSelfTest(tx, test, now))) return { passed, outOfDuty: collector.outOfDuty };
  await insertNoise(tx, name, noise, now);
  const duty = dutyAfterTest(collector, judgement);
  await updateCollector(tx, { ...collector, ...duty });
  // Only once: later failures of the same collector are not reported.
  if (collector.outOfDuty === null && duty.outOfDuty !== null)
    await keepAlarms(
      tx,
      [{ kind: "collector-out-of-duty", collector: name, why: duty.outOfDuty }],
      now,
    );
  await notifyBenchmarkChange(tx);
  return { passed, outOfDuty: duty.outOfDuty };
}

/** Returns the numbers of metrics in their suites. */
async function numbersOf(tx: Tx, noise: Report["noise"]): Promise<NoiseRow[]> {
  const rows: NoiseRow[] = [];
  // Always in the same order, so that two transactions that number metrics of the same two suites cannot deadlock.
  for (const name of [...new Set(noise.map(({ suite }) => suite))].toSorted()) {
    const ofSuite = noise.filter(({ suite }) => suite === name);
    const suite = (await findSuite(tx, name))?.definition;
    if (suite === undefined) throw new Fault("invalid_argument", `there is no suite "${name}"`);
    const cases = new Map(ofSuite.map((each) => [caseKey(each.case), each.case]));
    for (const testCase of cases.values()) refuseUnknown(suite, testCase);
    const ordinals = await metricOrdinals(tx, name, metricsOf(suite));
    const ids = await caseIds(tx, name, [...cases.values()]);
    for (const each of ofSuite) {
      const metric = ordinals.get(each.metric);
      const caseId = ids.get(caseKey(each.case));
      if (metric === undefined || caseId === undefined)
        throw new Fault("invalid_argument", `${name} has no metric "${each.metric}"`);
      rows.push({ caseId, metric, change: each.change });
    }
  }
  return rows;
}

function refuseUnknown(suite: Suite, { section, benchmark, backend, target }: TestCase): void {
  const isKnown =
    suite[section]?.benchmarks[benchmark] !== undefined &&
    backend in suite.backends &&
    target in suite.targets;
  if (!isKnown)
    throw new Fault(
      "invalid_argument",
      `${suite.suite} has no ${section} benchmark "${benchmark}" of ${backend} on ${target}`,
    );
}
