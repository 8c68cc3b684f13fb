import { z } from "zod";
import { TestCase } from "#core/test-case.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/** Its words were checked when they were stored; a thousand patterns matched again would take longer than to read it. */
export const StoredCase = z.object({
  id: z.number(),
  section: TestCase.shape.section,
  benchmark: z.string(),
  profile: z.string(),
  scenario: z.string(),
  backend: z.string(),
  target: z.string(),
});

export const caseColumns = sql`id, section, benchmark, profile, scenario, backend, target`;

/** All cases of a suite, by their numbers. */
export async function casesOf(tx: Tx, suite: string): Promise<Map<number, TestCase>> {
  const rows = await tx.many(
    StoredCase,
    sql`select ${caseColumns} from benchmark_case where suite = ${suite}`,
  );
  return new Map(rows.map(({ id, ...testCase }) => [id, testCase]));
}

/** Fingerprints by their environments' numbers. */
export async function fingerprintsOf(tx: Tx): Promise<Map<number, string>> {
  const rows = await tx.many(
    z.object({ id: z.number(), fingerprint: z.string() }),
    sql`select id, fingerprint from benchmark_environment`,
  );
  return new Map(rows.map(({ id, fingerprint }) => [id, fingerprint]));
}

/** The places of a suite's metrics in what is stored. */
export async function ordinalsOf(tx: Tx, suite: string): Promise<Map<string, number>> {
  const rows = await tx.many(
    z.object({ name: z.string(), ordinal: z.number() }),
    sql`select name, ordinal from benchmark_metric where suite = ${suite}`,
  );
  return new Map(rows.map(({ name, ordinal }) => [name, ordinal]));
}

/** A result, all its metrics by their ordinals (the first at 0). */
const Figures = z.object({
  artifactId: z.number(),
  caseId: z.number(),
  environmentId: z.number(),
  collector: z.string(),
  least: z.array(z.number().nullable()),
  scatter: z.array(z.number().nullable()).nullable(),
});
export type Figures = z.infer<typeof Figures>;

/** All results of some artifacts, those measured last first. JSON is what the driver reads fastest. */
export function figuresOf(tx: Tx, artifactIds: readonly number[]): Promise<Figures[]> {
  return tx.many(
    Figures,
    sql`
      select artifact_id as "artifactId", case_id as "caseId", environment_id as "environmentId",
             collector_name as collector, array_to_json(least) as least,
             array_to_json(scatter) as scatter
      from benchmark_result
      where artifact_id = any(${artifactIds}::int[])
      order by measured_at desc, environment_id desc
    `,
  );
}

const Warned = z.object({
  artifactId: z.number(),
  caseId: z.number(),
  environmentId: z.number(),
  warnings: z.array(z.string()),
});

/** What weakens the results of some artifacts; those without a warning are not there. */
export function warningsOf(tx: Tx, artifactIds: readonly number[]) {
  return tx.many(
    Warned,
    sql`
      select artifact_id as "artifactId", case_id as "caseId", environment_id as "environmentId",
             array_agg(distinct warning order by warning) as warnings
      from benchmark_collection, unnest(warnings) as warning
      where artifact_id = any(${artifactIds}::int[]) and warnings <> '{}'
      group by 1, 2, 3
    `,
  );
}

/** One metric of a case on machines of one kind. */
export interface Wanted {
  readonly caseId: number;
  readonly environmentId: number;
  readonly ordinal: number;
  /** Of the artifacts asked for, how many of the first count. */
  readonly until: number;
}

const Past = z.object({
  at: z.array(z.number()).nullable(),
  values: z.array(z.number()).nullable(),
});

/**
 * Values of some series at some artifacts, in the artifacts' order, by the wishes' positions.
 *
 * Only the metrics asked for travel, not whole results: of eight metrics that is an eighth. They come unsorted, each
 * with its place: to sort twenty thousand takes PostgreSQL longer than to find them.
 */
export async function valuesAt(
  tx: Tx,
  artifactIds: readonly number[],
  wanted: readonly Wanted[],
): Promise<Map<number, number[]>> {
  if (artifactIds.length === 0 || wanted.length === 0) return new Map();
  const width = artifactIds.length;
  const [past] = await tx.many(
    Past,
    sql`
      select array_to_json(array_agg((which - 1) * ${width}::int + place - 1)) as at,
             array_to_json(array_agg(least[ordinal])) as values
      from unnest(${wanted.map((each) => each.caseId)}::int[],
                  ${wanted.map((each) => each.environmentId)}::int[],
                  ${wanted.map((each) => each.ordinal)}::int[],
                  ${wanted.map((each) => each.until)}::int[])
             with ordinality as wanted (case_id, environment_id, ordinal, until, which)
      join (
        select place, result.case_id, result.environment_id, result.least
        from unnest(${artifactIds}::int[]) with ordinality as line (artifact_id, place)
        cross join lateral (
          select case_id, environment_id, least from benchmark_result
          where artifact_id = line.artifact_id
          -- Kept apart: a plan for any arrays would look for each case by itself, and takes four times as long.
          offset 0
        ) as result
      ) as past using (case_id, environment_id)
      where place <= until and least[ordinal] is not null
    `,
  );
  const placed = new Float64Array(wanted.length * width).fill(Number.NaN);
  past?.at?.forEach((at, i) => {
    placed[at] = past.values?.[i] ?? Number.NaN;
  });
  const histories = new Map<number, number[]>();
  wanted.forEach((_, which) => {
    const values: number[] = [];
    for (const value of placed.subarray(which * width, (which + 1) * width)) {
      if (!Number.isNaN(value)) values.push(value);
    }
    if (values.length > 0) histories.set(which, values);
  });
  return histories;
}
