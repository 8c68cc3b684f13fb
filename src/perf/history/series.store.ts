import { z } from "zod";
import type { TestCase } from "#core/test-case.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { Numbers, Texts } from "./number-columns.ts";

/** Returns the number of a case; undefined when it was never measured. */
export async function findCase(tx: Tx, suite: string, of: TestCase): Promise<number | undefined> {
  const [row] = await tx.many(
    z.object({ id: z.number() }),
    sql`
      select id from benchmark_case
      where suite = ${suite} and section = ${of.section} and benchmark = ${of.benchmark}
        and profile = ${of.profile} and scenario = ${of.scenario} and backend = ${of.backend} and target = ${of.target}
    `,
  );
  return row?.id;
}

const LanePrefix = z.object({
  environmentId: z.number(),
  collector: z.string(),
  places: Numbers,
  artifactIds: Numbers,
  artifacts: Texts,
  /** Milliseconds since 1970. */
  datedAt: Numbers,
  values: Numbers,
});

interface StoredSeriesPoint {
  readonly artifactId: number;
  readonly artifact: string;
  readonly datedAt: Date;
  readonly value: number;
  readonly collector: string;
  readonly environmentId: number;
}

/**
 * Returns one metric of a case at all artifacts of a kind, in the order of the line.
 *
 * Read only from the index and in columns: parsing a row for each of three thousand points takes longer than all other
 * work.
 */
export async function pointsOf(
  tx: Tx,
  of: { readonly caseId: number; readonly ordinal: number; readonly kind: "master" | "release" },
): Promise<StoredSeriesPoint[]> {
  const stretches = await tx.many(
    LanePrefix,
    sql`
      select result.environment_id as "environmentId", result.collector_name as collector,
             array_to_json(array_agg(line.place)) as places,
             array_to_json(array_agg(line.id)) as "artifactIds",
             array_to_json(array_agg(line.tag)) as artifacts,
             array_to_json(array_agg(line.ms)) as "datedAt",
             array_to_json(array_agg(result.least[${of.ordinal}::int])) as values
      from benchmark_result as result
      join (
        select id, tag, (extract(epoch from dated_at) * 1000)::float8 as ms,
               row_number() over (order by dated_at, tag) as place
        from benchmark_artifact
        where kind = ${of.kind} and suite = (select suite from benchmark_case where id = ${of.caseId})
      ) as line on line.id = result.artifact_id
      where result.case_id = ${of.caseId} and result.least[${of.ordinal}::int] is not null
      group by 1, 2
    `,
  );
  return stretches
    .flatMap(({ environmentId, collector, places, artifactIds, artifacts, datedAt, values }) =>
      places.map((place, i) => ({
        place,
        point: {
          artifactId: artifactIds[i] ?? 0,
          artifact: artifacts[i] ?? "",
          datedAt: new Date(datedAt[i] ?? 0),
          value: values[i] ?? 0,
          collector,
          environmentId,
        },
      })),
    )
    .toSorted((a, b) => a.place - b.place || a.point.environmentId - b.point.environmentId)
    .map(({ point }) => point);
}

const Samples = z.object({
  artifactId: z.number(),
  environmentId: z.number(),
  samples: z.array(z.number()),
});

/** Returns the values of all iterations of one metric of a case, at some artifacts. */
export function samplesOf(
  tx: Tx,
  artifactIds: readonly number[],
  of: { readonly caseId: number; readonly ordinal: number },
) {
  return tx.many(
    Samples,
    sql`
      select artifact_id as "artifactId", environment_id as "environmentId",
             array_to_json(array_agg(sample[${of.ordinal}::int] order by iteration)) as samples
      from benchmark_collection
      where artifact_id = any(${artifactIds}::int[]) and case_id = ${of.caseId}
        and sample[${of.ordinal}::int] is not null
      group by 1, 2
    `,
  );
}
