import { z } from "zod";
import type { Metric } from "#core/benchmark-metric.ts";
import { caseKey, TestCase } from "#core/test-case.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const Numbered = z.object({ name: z.string(), ordinal: z.number() });

/**
 * Returns the numbers of a suite's metrics; new metrics get one.
 *
 * With its own lock and not the suite's row, because starting requests locks that row and then jobs.
 */
export async function metricOrdinals(
  tx: Tx,
  suite: string,
  metrics: readonly Metric[],
): Promise<ReadonlyMap<string, number>> {
  const known = await readOrdinals(tx, suite);
  if (metrics.every(({ name }) => known.has(name))) return known;
  await tx.run(sql`
    select pg_advisory_xact_lock(hashtext('grange benchmark metrics'), hashtext(${suite}))
  `);
  await tx.run(sql`
    insert into benchmark_metric (suite, ordinal, name, nature, unit)
    select ${suite},
           (select coalesce(max(ordinal), 0) from benchmark_metric where suite = ${suite})
             + row_number() over (order by place),
           name, nature, unit
    from unnest(
      ${metrics.map(({ name }) => name)}::text[], ${metrics.map(({ nature }) => nature)}::text[],
      ${metrics.map(({ unit }) => unit)}::text[]
    ) with ordinality as wanted (name, nature, unit, place)
    where not exists (
      select from benchmark_metric as metric where metric.suite = ${suite} and metric.name = wanted.name)
  `);
  return readOrdinals(tx, suite);
}

async function readOrdinals(tx: Tx, suite: string): Promise<Map<string, number>> {
  const rows = await tx.many(
    Numbered,
    sql`select name, ordinal from benchmark_metric where suite = ${suite}`,
  );
  return new Map(rows.map(({ name, ordinal }) => [name, ordinal]));
}

const Identified = TestCase.extend({ id: z.number() });

/** Returns the numbers of cases of a suite by their keys; new cases get one. */
export async function caseIds(
  tx: Tx,
  suite: string,
  cases: readonly TestCase[],
): Promise<ReadonlyMap<string, number>> {
  const list = JSON.stringify(cases);
  const known = await readCases(tx, suite, list);
  if (known.length === cases.length) return byKey(known);
  // Always in the same order, so that two transactions with overlapping lists cannot deadlock.
  await tx.run(sql`
    insert into benchmark_case (suite, section, benchmark, profile, scenario, backend, target)
    select ${suite}, section, benchmark, profile, scenario, backend, target
    from jsonb_to_recordset(${list}::jsonb) as wanted (
      section text, benchmark text, profile text, scenario text, backend text, target text)
    where not exists (
      select from benchmark_case as test
      where test.suite = ${suite} and test.section = wanted.section and test.benchmark = wanted.benchmark
        and test.profile = wanted.profile and test.scenario = wanted.scenario
        and test.backend = wanted.backend and test.target = wanted.target)
    order by section, benchmark, profile, scenario, backend, target
    on conflict do nothing
  `);
  return byKey(await readCases(tx, suite, list));
}

function readCases(tx: Tx, suite: string, list: string) {
  return tx.many(
    Identified,
    sql`
      select test.id, test.section, test.benchmark, test.profile, test.scenario, test.backend, test.target
      from jsonb_to_recordset(${list}::jsonb) as wanted (
          section text, benchmark text, profile text, scenario text, backend text, target text)
        join benchmark_case as test
          on test.suite = ${suite} and test.section = wanted.section and test.benchmark = wanted.benchmark
         and test.profile = wanted.profile and test.scenario = wanted.scenario
         and test.backend = wanted.backend and test.target = wanted.target
    `,
  );
}

function byKey(rows: readonly z.infer<typeof Identified>[]): ReadonlyMap<string, number> {
  return new Map(rows.map((row) => [caseKey(row), row.id]));
}
