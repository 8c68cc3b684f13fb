import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const Step = z.object({
  caseId: z.number(),
  metric: z.number(),
  environmentId: z.number(),
  artifactId: z.number(),
});

/** Returns the accepted steps among those that begin at these artifacts. */
export function acceptedAt(tx: Tx, artifactIds: readonly number[]) {
  return tx.many(
    Step,
    sql`
      select case_id as "caseId", metric, environment_id as "environmentId", artifact_id as "artifactId"
      from benchmark_change_point
      where artifact_id = any(${artifactIds}::int[]) and standing = 'accepted'
    `,
  );
}

/** Returns when a step at these artifacts was last found or judged, because a comparison depends on it. */
export async function acceptedDigest(tx: Tx, artifactIds: readonly number[]): Promise<string> {
  const [row] = await tx.many(
    z.object({ digest: z.string() }),
    sql`
      select coalesce(md5(string_agg(format('%s %s %s %s', case_id, metric, environment_id, artifact_id), ','
               order by case_id, metric, environment_id, artifact_id)), '') as digest
      from benchmark_change_point
      where artifact_id = any(${artifactIds}::int[]) and standing = 'accepted'
    `,
  );
  return row?.digest ?? "";
}

const StoredPoint = z.object({
  caseId: z.number(),
  metric: z.number(),
  fingerprint: z.string(),
  artifact: z.string(),
  before: z.string(),
  datedAt: z.date(),
  meanBefore: z.number(),
  meanAfter: z.number(),
  p: z.number(),
  foundAt: z.date(),
  standing: z.enum(["found", "accepted", "dismissed"]),
  statedBy: z.string().nullable(),
  note: z.string().nullable(),
});
export type StoredPoint = z.infer<typeof StoredPoint>;

const pointColumns = sql`
  point.case_id as "caseId", point.metric, environment.fingerprint, artifact.tag as artifact, earlier.tag as before,
  artifact.dated_at as "datedAt", point.mean_before as "meanBefore", point.mean_after as "meanAfter", point.p,
  point.found_at as "foundAt", point.standing, point.said_by as "statedBy", point.note
`;
const pointTables = sql`
  benchmark_change_point as point
  join benchmark_environment as environment on environment.id = point.environment_id
  join benchmark_artifact as artifact on artifact.id = point.artifact_id
  join benchmark_artifact as earlier on earlier.id = point.before_id
`;

/** Returns all steps of one metric of a case, in the order of the line. */
export function pointsOfSeries(tx: Tx, caseId: number, metric: number): Promise<StoredPoint[]> {
  return tx.many(
    StoredPoint,
    sql`
      select ${pointColumns} from ${pointTables}
      where point.case_id = ${caseId} and point.metric = ${metric}
      order by artifact.dated_at, artifact.tag, environment.fingerprint
    `,
  );
}

const CaseStep = z.object({
  caseId: z.number(),
  environmentId: z.number(),
  artifact: z.string(),
  meanBefore: z.number(),
  meanAfter: z.number(),
});

/** Returns steps of one metric of some cases that were not dismissed, for marks in charts. */
export function stepsOfCases(tx: Tx, caseIds: readonly number[], metric: number) {
  return tx.many(
    CaseStep,
    sql`
      select point.case_id as "caseId", point.environment_id as "environmentId", artifact.tag as artifact,
             point.mean_before as "meanBefore", point.mean_after as "meanAfter"
      from benchmark_change_point as point
      join benchmark_artifact as artifact on artifact.id = point.artifact_id
      where point.case_id = any(${caseIds}::int[]) and point.metric = ${metric} and point.standing <> 'dismissed'
      order by artifact.dated_at, artifact.tag
    `,
  );
}

/** Returns steps of a suite whose artifacts were made since a time, newest artifacts first. */
export function pointsSince(
  tx: Tx,
  of: {
    readonly suite: string;
    readonly since: Date;
    readonly standings: readonly string[];
    readonly most: number;
  },
): Promise<StoredPoint[]> {
  return tx.many(
    StoredPoint,
    sql`
      select ${pointColumns} from ${pointTables}
      where artifact.suite = ${of.suite} and artifact.kind = 'master' and artifact.dated_at >= ${of.since}
        and point.standing = any(${of.standings}::text[])
      order by artifact.dated_at desc, artifact.tag desc,
               abs(point.mean_after - point.mean_before) / nullif(abs(point.mean_before), 0) desc nulls first,
               point.case_id, point.metric, environment.fingerprint
      limit ${of.most}
    `,
  );
}

/** Stores a person's statement about a step; returns false when there is no such step. */
export async function saveStatement(
  tx: Tx,
  of: {
    readonly caseId: number;
    readonly metric: number;
    readonly fingerprint: string;
    readonly artifactId: number;
  },
  statement: {
    readonly standing: "found" | "accepted" | "dismissed";
    readonly by: string;
    readonly note: string | null;
  },
): Promise<boolean> {
  const changed = await tx.run(sql`
    update benchmark_change_point
    set standing = ${statement.standing}, said_by = ${statement.by}, note = ${statement.note}
    where case_id = ${of.caseId} and metric = ${of.metric} and artifact_id = ${of.artifactId}
      and environment_id = (select id from benchmark_environment where fingerprint = ${of.fingerprint})
  `);
  return changed > 0;
}

const KnownPoint = z.object({
  caseId: z.number(),
  metric: z.number(),
  environmentId: z.number(),
  artifactId: z.number(),
  standing: z.enum(["found", "accepted", "dismissed"]),
});
export type KnownPoint = z.infer<typeof KnownPoint>;

/** Locks the known steps of some cases at some artifacts, so that people's statements wait for the search. */
export function holdPoints(
  tx: Tx,
  artifactIds: readonly number[],
  caseIds: readonly number[],
): Promise<KnownPoint[]> {
  return tx.many(
    KnownPoint,
    sql`
      select case_id as "caseId", metric, environment_id as "environmentId", artifact_id as "artifactId", standing
      from benchmark_change_point
      where artifact_id = any(${artifactIds}::int[]) and case_id = any(${caseIds}::int[])
      order by case_id, metric, environment_id, artifact_id
      for update
    `,
  );
}

export interface FoundPoint {
  readonly caseId: number;
  readonly metric: number;
  readonly environmentId: number;
  readonly artifactId: number;
  readonly beforeId: number;
  readonly meanBefore: number;
  readonly meanAfter: number;
  readonly p: number;
}

/** Stores the found steps. The figures of an existing step change, but not people's statements about it. */
export async function storeFoundPoints(
  tx: Tx,
  points: readonly FoundPoint[],
  now: Date,
): Promise<void> {
  if (points.length === 0) return;
  await tx.run(sql`
    insert into benchmark_change_point
      (case_id, metric, environment_id, artifact_id, before_id, mean_before, mean_after, p, found_at)
    select found.case_id, found.metric, found.environment_id, found.artifact_id, found.before_id,
           found.mean_before, found.mean_after, found.p, ${now}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(points.map(columnsOf))}::jsonb) as found
      (case_id int, metric int, environment_id int, artifact_id int, before_id int,
       mean_before float8, mean_after float8, p float8)
    order by 1, 2, 3, 4
    on conflict (case_id, metric, environment_id, artifact_id) do update
    set before_id = excluded.before_id, mean_before = excluded.mean_before,
        mean_after = excluded.mean_after, p = excluded.p
  `);
}

/** Deletes steps that later figures have disproved. Steps with a person's statement stay. */
export async function deleteDisprovedPoints(tx: Tx, points: readonly KnownPoint[]): Promise<void> {
  if (points.length === 0) return;
  await tx.run(sql`
    delete from benchmark_change_point
    using unnest(${points.map((each) => each.caseId)}::int[], ${points.map((each) => each.metric)}::int[],
                 ${points.map((each) => each.environmentId)}::int[],
                 ${points.map((each) => each.artifactId)}::int[])
            as gone (case_id, metric, environment_id, artifact_id)
    where benchmark_change_point.case_id = gone.case_id and benchmark_change_point.metric = gone.metric
      and benchmark_change_point.environment_id = gone.environment_id
      and benchmark_change_point.artifact_id = gone.artifact_id
      and benchmark_change_point.standing = 'found'
  `);
}

function columnsOf(point: FoundPoint) {
  return {
    case_id: point.caseId,
    metric: point.metric,
    environment_id: point.environmentId,
    artifact_id: point.artifactId,
    before_id: point.beforeId,
    mean_before: point.meanBefore,
    mean_after: point.meanAfter,
    p: point.p,
  };
}
