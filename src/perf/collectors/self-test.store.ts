import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

interface SelfTestRow {
  readonly collector: string;
  readonly comparisons: number;
  readonly alarms: number;
  readonly passed: boolean;
  readonly detail: Readonly<Record<string, unknown>>;
}

const Id = z.object({ id: z.number() });

/**
 * Stores a test, with the collector's row locked; returns false when the latest test is identical, because it was sent
 * again.
 */
export async function insertSelfTest(tx: Tx, test: SelfTestRow, now: Date): Promise<boolean> {
  const detail = JSON.stringify(test.detail);
  const inserted = await tx.many(
    Id,
    sql`
      insert into collector_self_test (collector_name, environment_id, at, comparisons, alarms, passed, detail)
      select collector.name, environment.id, ${now}, ${test.comparisons}, ${test.alarms}, ${test.passed},
             ${detail}::jsonb
      from collector join benchmark_environment as environment using (fingerprint)
      where collector.name = ${test.collector} and not exists (
        select from (
          select comparisons, alarms, detail from collector_self_test
          where collector_name = ${test.collector} order by at desc, id desc limit 1) as latest
        where latest.comparisons = ${test.comparisons} and latest.alarms = ${test.alarms}
          and latest.detail = ${detail}::jsonb and latest.detail <> '{}')
      returning id
    `,
  );
  return inserted.length > 0;
}

export interface NoiseRow {
  readonly caseId: number;
  readonly metric: number;
  readonly change: number;
}

/** Stores the differences of equal artifacts on a collector's machine. */
export async function insertNoise(
  tx: Tx,
  collector: string,
  rows: readonly NoiseRow[],
  now: Date,
): Promise<void> {
  if (rows.length === 0) return;
  await tx.run(sql`
    insert into benchmark_noise (case_id, metric, environment_id, at, change)
    select told.case_id, told.metric, environment.id, ${now}, told.change
    from unnest(
        ${rows.map(({ caseId }) => caseId)}::int[], ${rows.map(({ metric }) => metric)}::int[],
        ${rows.map(({ change }) => change)}::float8[]
      ) as told (case_id, metric, change),
      collector join benchmark_environment as environment using (fingerprint)
    where collector.name = ${collector}
  `);
}
