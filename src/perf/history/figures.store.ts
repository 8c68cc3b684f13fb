import { z } from "zod";
import { TestCase } from "#core/test-case.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import {
  NumberListsInText,
  Numbers,
  NumbersInText,
  NumbersOrNullInText,
  Texts,
} from "./number-columns.ts";

/**
 * Its names were checked when they were stored; matching a thousand patterns again would take longer than reading it.
 */
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

const CaseColumns = z.object({
  ids: Numbers,
  sections: z.array(TestCase.shape.section),
  benchmarks: Texts,
  profiles: Texts,
  scenarios: Texts,
  backends: Texts,
  targets: Texts,
});

/** Returns all cases of a suite, by their numbers. In columns, like `figuresOf`. */
export async function casesOf(tx: Tx, suite: string): Promise<Map<number, TestCase>> {
  const [columns] = await tx.many(
    CaseColumns,
    sql`
      select json_agg(id) as ids, json_agg(section) as sections, json_agg(benchmark) as benchmarks,
             json_agg(profile) as profiles, json_agg(scenario) as scenarios, json_agg(backend) as backends,
             json_agg(target) as targets
      from benchmark_case where suite = ${suite} having count(*) > 0
    `,
  );
  if (columns === undefined) return new Map();
  const { ids, sections, benchmarks, profiles, scenarios, backends, targets } = columns;
  return new Map(
    ids.map((id, i) => [
      id,
      {
        section: sections[i] ?? "compile",
        benchmark: benchmarks[i] ?? "",
        profile: profiles[i] ?? "",
        scenario: scenarios[i] ?? "",
        backend: backends[i] ?? "",
        target: targets[i] ?? "",
      },
    ]),
  );
}

/** Returns fingerprints by the numbers of their environments. */
export async function fingerprintsOf(tx: Tx): Promise<Map<number, string>> {
  const rows = await tx.many(
    z.object({ id: z.number(), fingerprint: z.string() }),
    sql`select id, fingerprint from benchmark_environment`,
  );
  return new Map(rows.map(({ id, fingerprint }) => [id, fingerprint]));
}

/** Returns the positions of a suite's metrics in the stored data. */
export async function ordinalsOf(tx: Tx, suite: string): Promise<Map<string, number>> {
  const rows = await tx.many(
    z.object({ name: z.string(), ordinal: z.number() }),
    sql`select name, ordinal from benchmark_metric where suite = ${suite}`,
  );
  return new Map(rows.map(({ name, ordinal }) => [name, ordinal]));
}

/** A result with all its metrics by their ordinals (the first at 0). */
export interface Figures {
  readonly artifactId: number;
  readonly caseId: number;
  readonly environmentId: number;
  readonly collector: string;
  readonly least: readonly (number | null)[];
  readonly scatter: readonly (number | null)[] | null;
}

const FigureColumns = z.object({
  artifacts: NumbersInText,
  cases: NumbersInText,
  environments: NumbersInText,
  collectors: Texts,
  least: NumberListsInText,
  scatter: NumberListsInText,
});

/**
 * Returns all results of some artifacts, the last measured first. In columns, because parsing a row for each of
 * fourteen hundred results takes longer than all other work.
 */
export async function figuresOf(tx: Tx, artifactIds: readonly number[]): Promise<Figures[]> {
  const [columns] = await tx.many(
    FigureColumns,
    sql`
      select string_agg(artifact_id::text, ',') as artifacts, string_agg(case_id::text, ',') as cases,
             string_agg(environment_id::text, ',') as environments, json_agg(collector_name) as collectors,
             string_agg('[' || array_to_string(least, ',', 'null') || ']', ',') as least,
             string_agg(coalesce('[' || array_to_string(scatter, ',', 'null') || ']', 'null'), ',') as scatter
      from (
        select artifact_id, case_id, environment_id, collector_name, least, scatter
        from benchmark_result
        where artifact_id = any(${artifactIds}::int[])
        order by measured_at desc, environment_id desc
        offset 0
      ) as result
      having count(*) > 0
    `,
  );
  if (columns === undefined) return [];
  const { artifacts, cases, environments, collectors, least, scatter } = columns;
  return artifacts.map((artifactId, i) => ({
    artifactId,
    caseId: cases[i] ?? 0,
    environmentId: environments[i] ?? 0,
    collector: collectors[i] ?? "",
    least: least[i] ?? [],
    scatter: scatter[i] ?? null,
  }));
}

const Warned = z.object({
  artifactId: z.number(),
  caseId: z.number(),
  environmentId: z.number(),
  warnings: z.array(z.string()),
});

/** Returns the warnings about results of some artifacts; artifacts without a warning are absent. */
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
  /** How many of the requested artifacts count, starting with the first. */
  readonly until: number;
}

/**
 * From this number of series of one metric on, results of all cases are read at once, and not those of each separately.
 */
const manySeries = 60;

/**
 * Returns the values of some series at some artifacts, in the artifacts' order, by the positions of the requests.
 *
 * Only the requested metrics are transferred, an eighth of eight metrics. When a metric is requested for many cases,
 * all results of an artifact are read at once; joining twenty thousand of them with the requests would take PostgreSQL
 * three times as long.
 */
export async function valuesAt(
  tx: Tx,
  artifactIds: readonly number[],
  wanted: readonly Wanted[],
): Promise<Map<number, number[]>> {
  if (artifactIds.length === 0 || wanted.length === 0) return new Map();
  const width = artifactIds.length;
  const placed = new Float64Array(wanted.length * width).fill(Number.NaN);
  const of = new Map<number, number[]>();
  wanted.forEach(({ ordinal }, which) => {
    const known = of.get(ordinal);
    if (known === undefined) of.set(ordinal, [which]);
    else known.push(which);
  });
  const few = [...of.values()].filter(({ length }) => length < manySeries).flat();
  const many = [...of].filter(([, { length }]) => length >= manySeries);
  await Promise.all([
    placeEach(tx, artifactIds, wanted, few, placed),
    ...many.map(([ordinal, which]) => placeAll(tx, artifactIds, wanted, which, ordinal, placed)),
  ]);
  const histories = new Map<number, number[]>();
  wanted.forEach(({ until }, which) => {
    const values: number[] = [];
    for (const value of placed.subarray(which * width, which * width + Math.min(until, width))) {
      if (!Number.isNaN(value)) values.push(value);
    }
    if (values.length > 0) histories.set(which, values);
  });
  return histories;
}

const OfArtifact = z.object({
  place: z.number(),
  environments: NumbersInText,
  cases: NumbersInText,
  values: NumbersOrNullInText,
});

/** Reads one metric of all results of the artifacts and stores the requested ones at their positions. */
async function placeAll(
  tx: Tx,
  artifactIds: readonly number[],
  wanted: readonly Wanted[],
  which: readonly number[],
  ordinal: number,
  placed: Float64Array,
): Promise<void> {
  const rows = await tx.many(
    OfArtifact,
    sql`
      select (place - 1)::int as place, result.environments, result.cases, result.values
      from unnest(${artifactIds}::int[]) with ordinality as line (artifact_id, place)
      cross join lateral (
        select string_agg(environment_id::text, ',') as environments, string_agg(case_id::text, ',') as cases,
               string_agg(coalesce(least[${ordinal}::int]::text, 'null'), ',') as values
        from benchmark_result
        where artifact_id = line.artifact_id
        having count(*) > 0
        -- Kept apart: a plan for any arrays would look for each case by itself, and takes many times as long.
        offset 0
      ) as result
    `,
  );
  const places = new Map<number, Map<number, number>>();
  for (const each of which) {
    const { caseId, environmentId } = wanted[each] as Wanted;
    let cases = places.get(environmentId);
    if (cases === undefined) {
      cases = new Map();
      places.set(environmentId, cases);
    }
    cases.set(caseId, each);
  }
  for (const { place, environments, cases, values } of rows) {
    cases.forEach((caseId, i) => {
      const at = places.get(environments[i] ?? 0)?.get(caseId);
      if (at !== undefined) placed[at * artifactIds.length + place] = values[i] ?? Number.NaN;
    });
  }
}

const Found = z.object({
  at: Numbers.nullable(),
  values: Numbers.nullable(),
});

/** Reads some series separately, each with an index scan. */
async function placeEach(
  tx: Tx,
  artifactIds: readonly number[],
  wanted: readonly Wanted[],
  which: readonly number[],
  placed: Float64Array,
): Promise<void> {
  if (which.length === 0) return;
  const width = artifactIds.length;
  const some = which.map((each) => wanted[each] as Wanted);
  const [found] = await tx.many(
    Found,
    sql`
      select array_to_json(array_agg(wanted.which * ${width}::int + line.place - 1)) as at,
             array_to_json(array_agg(result.value)) as values
      from unnest(${which}::int[],
                  ${some.map((each) => each.caseId)}::int[],
                  ${some.map((each) => each.environmentId)}::int[],
                  ${some.map((each) => each.ordinal)}::int[]) as wanted (which, case_id, environment_id, ordinal)
      cross join lateral (
        select artifact_id, least[wanted.ordinal] as value from benchmark_result
        where case_id = wanted.case_id and artifact_id = any(${artifactIds}::int[])
          and environment_id = wanted.environment_id and least[wanted.ordinal] is not null
        offset 0
      ) as result
      join unnest(${artifactIds}::int[]) with ordinality as line (artifact_id, place) using (artifact_id)
    `,
  );
  found?.at?.forEach((at, i) => {
    placed[at] = found.values?.[i] ?? Number.NaN;
  });
}
