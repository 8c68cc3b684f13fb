import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { testMnemonic } from "./test-attempts.ts";

const Count = z.number();

const Row = z.object({
  invocation: z.string(),
  label: z.string(),
  aspect: z.string(),
  kind: z.string(),
  isReported: z.boolean(),
  isBuildOver: z.boolean(),
  success: z.boolean().nullable(),
  aborted: z.string().nullable(),
  testStatus: z.string().nullable(),
  durationMs: z.number().nullable(),
  executed: Count,
  failed: Count,
  open: Count,
  cancelled: Count,
  flaky: Count,
  hits: Count,
  testActions: Count,
});
/** A target in a build: what build events report, and its actions counted. */
export type TargetFacts = z.infer<typeof Row>;

/** More targets of the builds together are not read: a build has at most 20,000 in its events. */
const mostRows = 60_000;

/**
 * Returns the targets of builds of a project: those of their build events, and those that their actions name.
 *
 * An action that was repeated counts by its last execution.
 *
 * @param labels only these; undefined: all
 */
export function targetFacts(
  tx: Tx,
  query: {
    readonly project: string;
    readonly invocations: readonly string[];
    readonly labels: readonly string[] | undefined;
  },
): Promise<TargetFacts[]> {
  const { project, invocations, labels } = query;
  if (invocations.length === 0 || labels?.length === 0) return Promise.resolve([]);
  const named = labels === undefined ? sql`true` : sql`target_id = any(${labels}::text[])`;
  const ofBuilds = sql`project = ${project} and invocation = any(${invocations}::text[])`;
  return tx.many(
    Row,
    sql`
      with by_action as (
        select invocation, target_id as label,
          (array_agg(outcome order by requested_at desc, id desc))[1] as outcome,
          count(distinct execution_id) as executions,
          coalesce(bool_or(outcome not in ('succeeded', 'cancelled')), false) as has_failed,
          bool_or(action_mnemonic = ${testMnemonic}) as is_test,
          min(requested_at) as began, max(finished_at) as ended
        from operation where ${ofBuilds} and target_id <> '' and ${named}
        group by invocation, target_id, action_digest
      ), executed as (
        select invocation, label, sum(executions) as executed,
          count(*) filter (where outcome not in ('succeeded', 'cancelled')) as failed,
          count(*) filter (where outcome is null) as open,
          count(*) filter (where outcome = 'cancelled') as cancelled,
          count(*) filter (where outcome = 'succeeded' and has_failed) as flaky,
          count(*) filter (where is_test) as tests,
          round(extract(epoch from max(ended) - min(began)) * 1000) as ms
        from by_action group by invocation, label
      ), found as (
        select invocation, target_id as label, count(*) as hits,
          count(*) filter (where action_mnemonic = ${testMnemonic}) as tests
        from cache_lookup where ${ofBuilds} and hit and target_id <> '' and ${named}
        group by invocation, target_id
      ), acted as (
        select invocation, label, '' as aspect, executed, failed, open, cancelled, flaky, hits, ms,
          coalesce(executed.tests, 0) + coalesce(found.tests, 0) as tests
        from executed full join found using (invocation, label)
      ), reported as (
        select invocation, label, aspect, kind, success, aborted, test_status, duration_ms,
          exit_code is not null or complete as is_over
        from (select project, invocation, label as target_id, label, aspect, kind, success, aborted,
                test_status, duration_ms from build_target) as target
        join build using (project, invocation)
        where ${ofBuilds} and ${named}
      )
      select invocation, label, aspect, coalesce(kind, '') as kind, kind is not null as "isReported",
        coalesce(is_over, false) as "isBuildOver", success, aborted, test_status as "testStatus",
        coalesce(duration_ms, ms)::float8 as "durationMs", coalesce(executed, 0)::int as executed,
        coalesce(failed, 0)::int as failed, coalesce(open, 0)::int as open,
        coalesce(cancelled, 0)::int as cancelled, coalesce(flaky, 0)::int as flaky,
        coalesce(hits, 0)::int as hits, coalesce(tests, 0)::int as "testActions"
      from reported full join acted using (invocation, label, aspect)
      limit ${mostRows}
    `,
  );
}

const Build = z.object({
  invocation: z.string(),
  commit: z.string().nullable(),
  branch: z.string().nullable(),
  at: z.date().transform((date) => date.toISOString()),
});
/** A build in which a target may be. */
type BuildOfTarget = z.output<typeof Build>;

/** Earlier builds are looked for among this many. */
const mostLookedAt = 500;

/**
 * Returns builds of the project and the tool that began before one, the newest first: those of the same command and
 * patterns, then others. Cancelled ones are left out.
 */
export async function earlierBuilds(
  tx: Tx,
  { project, id, most }: { readonly project: string; readonly id: string; readonly most: number },
): Promise<BuildOfTarget[]> {
  const builds = await tx.many(
    Build,
    sql`
      with this as (
        select first_seen_at, tool_name, command, patterns
        from invocation left join build on build.project = ${project} and build.invocation = ${id}
        where invocation.project = ${project} and invocation.id = ${id}
      ), before as (
        select id, tool_name, first_seen_at from invocation
        where project = ${project} and cancelled_at is null
          and (first_seen_at, id) < (select first_seen_at, ${id}::text from this)
        order by first_seen_at desc, id desc limit ${mostLookedAt}
      )
      select before.id as invocation, build.commit, build.branch, before.first_seen_at as at
      from before join this using (tool_name)
      left join build on build.project = ${project} and build.invocation = before.id
      order by (build.command, build.patterns) is not distinct from (this.command, this.patterns) desc,
        before.first_seen_at desc, before.id desc
      limit ${most}
    `,
  );
  return builds.toSorted((a, b) => b.at.localeCompare(a.at));
}

/** The newest requests for a target that are looked at for the builds that made them. */
const mostRequests = 5_000;

/** Returns the newest builds that had a target, the newest first. */
export function buildsOfTarget(
  tx: Tx,
  query: { readonly project: string; readonly label: string; readonly limit: number },
): Promise<BuildOfTarget[]> {
  const { project, label, limit } = query;
  const ofTarget = sql`project = ${project} and target_id = ${label} and target_id <> ''`;
  return tx.many(
    Build,
    sql`
      with named as (
        select invocation from build_target
        where project = ${project} and label = ${label} and aspect = ''
        union
        select invocation from (
          select invocation from operation where ${ofTarget}
          order by requested_at desc limit ${mostRequests}) as executed
        union
        select invocation from (
          select invocation from cache_lookup where ${ofTarget} and hit
          order by looked_up_at desc limit ${mostRequests}) as found
      )
      select invocation.id as invocation, build.commit, build.branch,
        coalesce(build.first_heard_at, invocation.first_seen_at) as at
      from named
      join invocation on invocation.project = ${project} and invocation.id = named.invocation
      left join build on build.project = ${project} and build.invocation = named.invocation
      order by at desc, invocation.id limit ${limit}
    `,
  );
}
