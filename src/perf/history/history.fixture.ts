import { randomUUID } from "node:crypto";
import type { MetricValues } from "#core/benchmark-metric.ts";
import { caseKey, type TestCase } from "#core/test-case.ts";
import type { Db } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { metricsOf } from "#suites/metrics-of.ts";
import {
  aSuite,
  labEpoch,
  type StoredArtifact,
  storeArtifact,
  storeSuite,
} from "../perf.fixture.ts";
import { figuresInOrder } from "../results/figures-in-order.ts";
import { caseIds, metricOrdinals } from "../results/name-figures.store.ts";

export const dayMs = 86_400_000;

/** The case `alpha`, checked, from nothing, by `js`. */
export function aCase(changes: Partial<TestCase> = {}): TestCase {
  return {
    section: "compile",
    benchmark: "alpha",
    profile: "check",
    scenario: "full",
    backend: "js",
    target: "linux-x64",
    ...changes,
  };
}

/** The suite of the tests, and this many days of its main line, each the parent of the next: `n1`, `n2` … */
export async function aLine(db: Db, days: number, suite = aSuite()): Promise<StoredArtifact[]> {
  await storeSuite(db, suite);
  const line: StoredArtifact[] = [];
  for (let day = 1; day <= days; day++) {
    const parent = line.at(-1);
    line.push(
      await storeArtifact(db, {
        tag: `n${day}`,
        datedAt: new Date(labEpoch.getTime() + day * dayMs),
        ...(parent === undefined ? {} : { parent }),
      }),
    );
  }
  return line;
}

/** Returns the nth artifact of a line, from 1. */
export function nth(line: readonly StoredArtifact[], day: number): StoredArtifact {
  const artifact = line[day - 1];
  if (artifact === undefined) throw new Error(`the line has no day ${day}`);
  return artifact;
}

async function storeEnvironment(db: Db, fingerprint: string): Promise<void> {
  await db.run(sql`
    insert into benchmark_environment (fingerprint, facts, first_seen_at)
    values (${fingerprint}, '{}', ${labEpoch}) on conflict do nothing
  `);
}

async function numbersOf(db: Db, testCase: TestCase) {
  return db.transaction(async (tx) => ({
    ordinals: await metricOrdinals(tx, "demo", metricsOf(aSuite())),
    caseId: (await caseIds(tx, "demo", [testCase])).get(caseKey(testCase)) ?? 0,
  }));
}

/** Stores one iteration's figures, and the result computed from them. */
export async function storeFigures(
  db: Db,
  of: {
    readonly artifact: StoredArtifact;
    readonly case?: TestCase;
    readonly fingerprint?: string;
    readonly values: MetricValues;
    /** Null: there was one iteration. Default: several iterations with equal values. */
    readonly scatter?: MetricValues | null;
    readonly warnings?: readonly string[];
    readonly jobId?: string;
    readonly at?: Date;
  },
): Promise<void> {
  const { artifact, fingerprint = "one", warnings = [], at = labEpoch } = of;
  await storeEnvironment(db, fingerprint);
  const { ordinals, caseId } = await numbersOf(db, of.case ?? aCase());
  const sample = figuresInOrder(of.values, ordinals);
  const environment = sql`(select id from benchmark_environment where fingerprint = ${fingerprint})`;
  await db.run(sql`
    insert into benchmark_collection
      (artifact_id, case_id, environment_id, iteration, sample, collector_name, job_id, epoch, measured_at, warnings)
    values (${artifact.id}, ${caseId}, ${environment}, 1, ${sample}::float8[], 'c1', ${of.jobId ?? randomUUID()}, 1,
            ${at}, ${warnings}::text[])
  `);
  await db.run(sql`
    insert into benchmark_result
      (artifact_id, case_id, environment_id, least, scatter, iterations, collector_name, measured_at)
    values (${artifact.id}, ${caseId}, ${environment}, ${sample}::float8[],
            ${of.scatter === undefined ? sample.map((value) => value && 0) : figuresInOrder(of.scatter ?? {}, ordinals)}::float4[],
            1, 'c1', ${at})
  `);
}

/** Stores the instructions of one case, a value for each day of the line from the first; undefined: not measured. */
export async function storeLine(
  db: Db,
  line: readonly StoredArtifact[],
  values: readonly (number | undefined)[],
  fingerprint = "one",
): Promise<void> {
  for (const [i, value] of values.entries()) {
    if (value === undefined) continue;
    await storeFigures(db, {
      artifact: nth(line, i + 1),
      fingerprint,
      values: { instructions: value },
    });
  }
}

export async function storePairs(
  db: Db,
  of: {
    readonly child: StoredArtifact;
    readonly parent: StoredArtifact;
    readonly purpose?: "paired" | "confirm";
    readonly metric: string;
    readonly pairs: readonly { readonly child: number; readonly parent: number }[];
  },
): Promise<void> {
  await storeEnvironment(db, "one");
  const { ordinals, caseId } = await numbersOf(db, aCase());
  const jobId = randomUUID();
  for (const [i, pair] of of.pairs.entries()) {
    await db.run(sql`
      insert into benchmark_pair
        (job_id, purpose, case_id, pair, artifact_id, against_id, environment_id, collector_name, child, parent,
         parent_first, measured_at)
      values (${jobId}, ${of.purpose ?? "paired"}, ${caseId}, ${i + 1}, ${of.child.id}, ${of.parent.id},
              (select id from benchmark_environment where fingerprint = 'one'), 'c1',
              ${figuresInOrder({ [of.metric]: pair.child }, ordinals)}::float8[],
              ${figuresInOrder({ [of.metric]: pair.parent }, ordinals)}::float8[], ${i % 2 === 0}, ${labEpoch})
    `);
  }
}
