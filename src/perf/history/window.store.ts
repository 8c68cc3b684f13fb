import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const Place = z.object({ id: z.number(), before: z.boolean() });

/** Returns measured artifacts of the main line around one of them, including it, in the order of the line. */
export async function windowAbout(
  tx: Tx,
  artifactId: number,
  most: { readonly before: number; readonly after: number },
): Promise<number[]> {
  const isMeasured = sql`exists (select from benchmark_measured where artifact_id = artifact.id)`;
  const rows = await tx.many(
    Place,
    sql`
      (select artifact.id, true as before
       from benchmark_artifact as middle
       join benchmark_artifact as artifact on artifact.suite = middle.suite and artifact.kind = middle.kind
         and (artifact.dated_at, artifact.tag) <= (middle.dated_at, middle.tag)
       where middle.id = ${artifactId} and ${isMeasured}
       order by artifact.dated_at desc, artifact.tag desc
       limit ${most.before + 1})
      union all
      (select artifact.id, false as before
       from benchmark_artifact as middle
       join benchmark_artifact as artifact on artifact.suite = middle.suite and artifact.kind = middle.kind
         and (artifact.dated_at, artifact.tag) > (middle.dated_at, middle.tag)
       where middle.id = ${artifactId} and ${isMeasured}
       order by artifact.dated_at, artifact.tag
       limit ${most.after})
    `,
  );
  const before = rows.filter((row) => row.before).map(({ id }) => id);
  const after = rows.filter((row) => !row.before).map(({ id }) => id);
  return [...before.toReversed(), ...after];
}

/** Returns the measured cases of an artifact. */
export async function measuredCases(tx: Tx, artifactId: number): Promise<number[]> {
  const rows = await tx.many(
    z.object({ caseId: z.number() }),
    sql`
      select distinct case_id as "caseId" from benchmark_result
      where artifact_id = ${artifactId} order by case_id
    `,
  );
  return rows.map(({ caseId }) => caseId);
}

const WindowSeries = z.object({
  caseId: z.number(),
  environmentId: z.number(),
  places: z.array(z.number()),
  least: z.array(z.array(z.number().nullable())),
});

/** Returns all metrics of some cases at some artifacts, by case and environment, in the artifacts' order. */
export function seriesAt(tx: Tx, artifactIds: readonly number[], caseIds: readonly number[]) {
  return tx.many(
    WindowSeries,
    sql`
      select case_id as "caseId", environment_id as "environmentId",
             array_to_json(array_agg(place - 1 order by place)) as places,
             json_agg(least order by place) as least
      from unnest(${artifactIds}::int[]) with ordinality as line (artifact_id, place)
      join benchmark_result using (artifact_id)
      where artifact_id = any(${artifactIds}::int[]) and case_id = any(${caseIds}::int[])
      group by 1, 2
    `,
  );
}

export async function suiteOfArtifact(tx: Tx, artifactId: number): Promise<string | undefined> {
  const [row] = await tx.many(
    z.object({ suite: z.string() }),
    sql`select suite from benchmark_artifact where id = ${artifactId}`,
  );
  return row?.suite;
}
