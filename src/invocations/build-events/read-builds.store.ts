import { z } from "zod";
import type { PlacePatterns } from "#core/place-patterns.ts";
import type { Tx } from "#db/db.ts";
import { inPlaces } from "#db/in-places.ts";
import { type Sql, sql } from "#db/sql.ts";
import type { BuildKey } from "./build.store.ts";

export const BuildSummaryRow = z.object({
  project: z.string(),
  invocation: z.string(),
  command: z.string(),
  patterns: z.array(z.string()),
  user: z.string(),
  host: z.string(),
  repository: z.string().nullable(),
  branch: z.string().nullable(),
  commit: z.string().nullable(),
  exitCode: z.number().nullable(),
  exitName: z.string().nullable(),
  result: z.string().nullable(),
  complete: z.boolean(),
  startedAt: z.date().nullable(),
  finishedAt: z.date().nullable(),
  firstHeardAt: z.date(),
  lastHeardAt: z.date(),
});
export type BuildSummaryRow = z.infer<typeof BuildSummaryRow>;

const summary = sql`
  project, invocation, command, patterns, user_name as "user", host, repository, branch, commit,
  exit_code as "exitCode", exit_name as "exitName", result, complete, started_at as "startedAt",
  finished_at as "finishedAt", first_heard_at as "firstHeardAt", last_heard_at as "lastHeardAt"
`;

export function readSummaries(tx: Tx, keys: readonly BuildKey[]): Promise<BuildSummaryRow[]> {
  return tx.many(
    BuildSummaryRow,
    sql`
      select ${summary} from build
      where (project, invocation) in (
        select asked.project, asked.invocation from unnest(
          ${keys.map(({ project }) => project)}::text[],
          ${keys.map(({ invocation }) => invocation)}::text[]
        ) as asked (project, invocation))
    `,
  );
}

/** Returns the builds of a commit, which may be given by a prefix, the newest first. */
export function buildsOfCommit(
  tx: Tx,
  query: {
    readonly commit: string;
    readonly project: string | undefined;
    readonly limit: number;
    /** Only builds of projects among these places. */
    readonly places: PlacePatterns;
  },
): Promise<BuildKey[]> {
  const { project, limit, places } = query;
  const from = query.commit.toLowerCase();
  const inProject: Sql = project === undefined ? sql`true` : sql`project = ${project}`;
  return tx.many(
    z.object({ project: z.string(), invocation: z.string() }),
    sql`
      select project, invocation from build
      where commit >= ${from} and commit < ${`${from}g`} and ${inProject} and ${inPlaces(places, sql`project`)}
      order by first_heard_at desc, invocation, project limit ${limit}
    `,
  );
}

const NamedFileRow = z.object({ name: z.string(), uri: z.string() });

export const TargetRow = z.object({
  label: z.string(),
  aspect: z.string(),
  kind: z.string(),
  success: z.boolean().nullable(),
  aborted: z.string().nullable(),
  testStatus: z.string().nullable(),
  durationMs: z.number().nullable(),
  outputs: z.array(NamedFileRow),
});
export type TargetRow = z.infer<typeof TargetRow>;

/** Returns targets, the failed ones first, because people look for these. */
export function readTargets(
  tx: Tx,
  { project, invocation }: BuildKey,
  limit: number,
): Promise<TargetRow[]> {
  return tx.many(
    TargetRow,
    sql`
      select label, aspect, kind, success, aborted, test_status as "testStatus",
        duration_ms as "durationMs", outputs
      from build_target
      where project = ${project} and invocation = ${invocation}
      order by
        case when success = false then 0
          when test_status not in ('PASSED', 'FLAKY', 'NO_STATUS') then 1
          when test_status = 'FLAKY' then 2
          when success is null then 3 else 4 end,
        label, aspect
      limit ${limit}
    `,
  );
}

export const TestRow = z.object({
  label: z.string(),
  run: z.number(),
  shard: z.number(),
  attempt: z.number(),
  status: z.string(),
  startedAt: z.date().nullable(),
  durationMs: z.number(),
  cached: z.boolean(),
  files: z.array(NamedFileRow),
});
export type TestRow = z.infer<typeof TestRow>;

export function readTests(
  tx: Tx,
  { project, invocation }: BuildKey,
  labels: readonly string[],
  limit: number,
): Promise<TestRow[]> {
  return tx.many(
    TestRow,
    sql`
      select label, run, shard, attempt, status, started_at as "startedAt",
        duration_ms as "durationMs", cached, files
      from build_test
      where project = ${project} and invocation = ${invocation} and label = any(${labels}::text[])
      order by label, configuration, run, shard, attempt limit ${limit}
    `,
  );
}
