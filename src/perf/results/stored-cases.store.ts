import { z } from "zod";
import { caseKey, TestCase } from "#core/test-case.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { JobSlice } from "#suites/plan-cases.ts";

type Slice = Pick<JobSlice, "section" | "target" | "backend" | "profile">;

/**
 * Returns the keys of the cases of a slice for which an artifact has a result of at least this many runs, on any
 * machine.
 */
export async function measuredCases(
  tx: Tx,
  artifactId: number,
  { section, target, backend, profile, runs }: Slice & { readonly runs: number | null },
): Promise<ReadonlySet<string>> {
  const rows = await tx.many(
    TestCase,
    sql`
      select distinct test.section, test.benchmark, test.profile, test.scenario, test.backend, test.target
      from benchmark_result as result join benchmark_case as test on test.id = result.case_id
      where result.artifact_id = ${artifactId} and test.section = ${section} and test.target = ${target}
        and test.backend = ${backend} and test.profile = ${profile}
        and result.iterations >= ${runs ?? 1}
    `,
  );
  return new Set(rows.map(caseKey));
}

const Iterated = TestCase.extend({ last: z.number(), count: z.number() });

/**
 * Returns, for the cases of a slice, the iterations of an artifact in one environment: the last number, and the count.
 */
export async function storedIterations(
  tx: Tx,
  artifactId: number,
  { section, target, backend, profile }: Slice,
  environmentId: number,
): Promise<ReadonlyMap<string, { readonly last: number; readonly count: number }>> {
  const rows = await tx.many(
    Iterated,
    sql`
      select test.section, test.benchmark, test.profile, test.scenario, test.backend, test.target,
             max(taken.iteration) as last, count(*) as count
      from benchmark_collection as taken join benchmark_case as test on test.id = taken.case_id
      where taken.artifact_id = ${artifactId} and taken.environment_id = ${environmentId}
        and test.section = ${section} and test.target = ${target} and test.backend = ${backend}
        and test.profile = ${profile}
      group by test.id
    `,
  );
  return new Map(rows.map((row) => [caseKey(row), row]));
}

/**
 * Returns the keys of the reported cases of a job: an error of this job; for a job that is measured in pairs, one of
 * its pairs; otherwise a result of its artifact, from any collector, with as many runs as the job requires.
 */
export async function reportedCases(
  tx: Tx,
  jobId: string,
  job: Slice & {
    readonly artifactId: number;
    readonly purpose: string;
    readonly runs: number | null;
  },
): Promise<ReadonlySet<string>> {
  const isPaired = job.purpose === "paired" || job.purpose === "confirm";
  const rows = await tx.many(
    TestCase,
    sql`
      select test.section, test.benchmark, test.profile, test.scenario, test.backend, test.target
      from benchmark_case as test
      where test.id in (
        select case_id from benchmark_error where job_id = ${jobId} and case_id is not null
        union all select case_id from benchmark_pair where job_id = ${jobId})
    `,
  );
  const measured = isPaired ? new Set<string>() : await measuredCases(tx, job.artifactId, job);
  return new Set([...rows.map(caseKey), ...measured]);
}

const Counted = TestCase.extend({ pairs: z.number() });

/** Returns the number of a job's pairs of each case in one environment, by the case's key. */
export async function storedPairs(
  tx: Tx,
  jobId: string,
  environmentId: number,
): Promise<ReadonlyMap<string, number>> {
  const rows = await tx.many(
    Counted,
    sql`
      select test.section, test.benchmark, test.profile, test.scenario, test.backend, test.target,
             count(*) as pairs
      from benchmark_pair as pair join benchmark_case as test on test.id = pair.case_id
      where pair.job_id = ${jobId} and pair.environment_id = ${environmentId}
      group by test.id
    `,
  );
  return new Map(rows.map((row) => [caseKey(row), row.pairs]));
}
