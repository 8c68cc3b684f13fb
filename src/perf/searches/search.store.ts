import { z } from "zod";
import { Section } from "#core/test-case.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { Step } from "./plan-search.ts";

export const BenchmarkSearchId = z.uuid().brand<"BenchmarkSearchId">();
export type BenchmarkSearchId = z.infer<typeof BenchmarkSearchId>;

interface NewBenchmarkSearch {
  readonly id: BenchmarkSearchId;
  readonly suite: string;
  readonly kind: "scan" | "change-points" | "bisect";
  readonly caseId: number;
  readonly metric: string;
  readonly fromId: number;
  readonly toId: number;
  /** `3`, `week`, `month`; null if the kind chooses it. */
  readonly every: string | null;
  readonly least: number;
  readonly requestedBy: string;
  readonly createdAt: Date;
}

export async function insertBenchmarkSearch(tx: Tx, search: NewBenchmarkSearch): Promise<void> {
  await tx.run(sql`
    insert into benchmark_search
      (id, suite, kind, case_id, metric, from_id, to_id, every, least, state, requested_by, created_at)
    values (${search.id}, ${search.suite}, ${search.kind}, ${search.caseId}, ${search.metric},
            ${search.fromId}, ${search.toId}, ${search.every}, ${search.least}, 'running',
            ${search.requestedBy}, ${search.createdAt})
  `);
}

const FoundStep = z.object({
  beforeId: z.number().int(),
  artifactId: z.number().int(),
  change: z.number().nullable(),
  exact: z.boolean(),
});
type FoundStep = z.infer<typeof FoundStep>;

const CaseColumns = {
  section: Section,
  benchmark: z.string(),
  profile: z.string(),
  scenario: z.string(),
  backend: z.string(),
  target: z.string(),
};

const SearchRow = z.object({
  id: BenchmarkSearchId,
  suite: z.string(),
  kind: z.enum(["scan", "change-points", "bisect"]),
  case_id: z.number().int(),
  metric: z.string(),
  from_id: z.number().int(),
  to_id: z.number().int(),
  from_tag: z.string(),
  to_tag: z.string(),
  every: z.string().nullable(),
  least: z.number(),
  state: z.enum(["running", "found", "nothing", "failed", "cancelled"]),
  asked: z.array(z.number().int()),
  steps: z.array(FoundStep),
  error: z.string().nullable(),
  requested_by: z.string(),
  created_at: z.date(),
  ended_at: z.date().nullable(),
  ...CaseColumns,
});
export type SearchRow = z.infer<typeof SearchRow>;

const columns = sql`
  s.id, s.suite, s.kind, s.case_id, s.metric, s.from_id, s.to_id, f.tag as from_tag, t.tag as to_tag, s.every, s.least,
  s.state, s.asked, s.steps, s.error, s.requested_by, s.created_at, s.ended_at,
  c.section, c.benchmark, c.profile, c.scenario, c.backend, c.target
`;
const joined = sql`
  benchmark_search s
  join benchmark_artifact f on f.id = s.from_id
  join benchmark_artifact t on t.id = s.to_id
  join benchmark_case c on c.id = s.case_id
`;

/** Locks and returns the oldest running search that no other server is processing. */
export async function takeRunningSearch(
  tx: Tx,
  except: readonly string[],
): Promise<SearchRow | undefined> {
  const [row] = await tx.many(
    SearchRow,
    sql`select ${columns} from ${joined} where s.state = 'running' and not s.id = any(${except}::uuid[])
        order by s.created_at, s.id limit 1 for update of s skip locked`,
  );
  return row;
}

export async function readBenchmarkSearch(
  tx: Tx,
  id: BenchmarkSearchId,
): Promise<SearchRow | undefined> {
  const [row] = await tx.many(SearchRow, sql`select ${columns} from ${joined} where s.id = ${id}`);
  return row;
}

export function newestBenchmarkSearches(
  tx: Tx,
  suite: string | undefined,
  limit: number,
): Promise<SearchRow[]> {
  return tx.many(
    SearchRow,
    sql`select ${columns} from ${joined} where ${suite ?? null}::text is null or s.suite = ${suite ?? null}
        order by s.created_at desc, s.id limit ${limit}`,
  );
}

const LineRow = z.object({ id: z.number().int(), tag: z.string(), dated_at: z.date() });
export type LineRow = z.infer<typeof LineRow>;

/** Returns the artifacts of one kind between two, both included, in the order of the line. */
export function lineBetween(tx: Tx, fromId: number, toId: number): Promise<LineRow[]> {
  return tx.many(
    LineRow,
    sql`
      select a.id, a.tag, a.dated_at
      from benchmark_artifact f
      join benchmark_artifact t on t.id = ${toId} and t.suite = f.suite and t.kind = f.kind
      join benchmark_artifact a on a.suite = f.suite and a.kind = f.kind
        and (a.dated_at, a.tag) between (f.dated_at, f.tag) and (t.dated_at, t.tag)
      where f.id = ${fromId}
      order by a.dated_at, a.tag
    `,
  );
}

const FigureRow = z.object({ artifact_id: z.number().int(), value: z.number() });

/**
 * Returns figures of one series on the kind of machine with most of the line's measurements: others are not compared
 * with them.
 */
export function figuresAlong(
  tx: Tx,
  line: readonly number[],
  { caseId, suite, metric }: { caseId: number; suite: string; metric: string },
): Promise<z.infer<typeof FigureRow>[]> {
  return tx.many(
    FigureRow,
    sql`
      with figure as (
        select r.artifact_id, r.environment_id, r.least[m.ordinal] as value
        from benchmark_result r
        join benchmark_metric m on m.suite = ${suite} and m.name = ${metric}
        where r.case_id = ${caseId} and r.artifact_id = any(${line}::int[]) and r.least[m.ordinal] is not null
      ), usual as (
        select environment_id from figure group by environment_id
        order by count(*) desc, environment_id desc limit 1
      )
      select f.artifact_id, f.value from figure f join usual using (environment_id)
    `,
  );
}

const OpenRow = z.object({ artifact_id: z.number().int() });

/**
 * Returns which of these artifacts have an open request, or a job that may still measure the case: an optional one
 * outlives its request.
 */
export async function artifactsUnderWay(
  tx: Tx,
  ids: readonly number[],
  { target, backend }: { readonly target: string; readonly backend: string },
): Promise<Set<number>> {
  const rows = await tx.many(
    OpenRow,
    sql`select artifact_id from benchmark_request
        where artifact_id = any(${ids}::int[]) and state in ('waiting-for-artifacts', 'artifacts-ready', 'in-progress')
        union
        select artifact_id from benchmark_job
        where artifact_id = any(${ids}::int[]) and state in ('queued', 'in-progress')
          and purpose in ('own', 'backfill') and target = ${target} and backend = ${backend}`,
  );
  return new Set(rows.map((row) => row.artifact_id));
}

/** Stores the requested and found positions; an end is written only once. */
export async function writeSearchProgress(
  tx: Tx,
  id: BenchmarkSearchId,
  progress: {
    readonly asked: readonly number[];
    readonly steps: readonly FoundStep[];
    readonly ended:
      | { readonly state: "found" | "nothing" | "failed"; readonly at: Date }
      | undefined;
    readonly error?: string | undefined;
  },
): Promise<void> {
  await tx.run(sql`
    update benchmark_search
    set asked = asked || ${progress.asked}::int[], steps = ${JSON.stringify(progress.steps)}::jsonb,
        state = ${progress.ended?.state ?? "running"}, ended_at = ${progress.ended?.at ?? null},
        error = ${progress.error ?? null}
    where id = ${id} and state = 'running'
  `);
}

/** Returns false when it had ended before. */
export async function cancelBenchmarkSearch(
  tx: Tx,
  id: BenchmarkSearchId,
  at: Date,
): Promise<boolean> {
  const cancelled = await tx.run(
    sql`update benchmark_search set state = 'cancelled', ended_at = ${at} where id = ${id} and state = 'running'`,
  );
  return cancelled > 0;
}

/** Returns steps in the form of rows: by the artifacts' ids. */
export function stepsByIds(line: readonly LineRow[], steps: readonly Step[]): FoundStep[] {
  return steps.flatMap(({ before, after, change, exact }) => {
    const [beforeId, artifactId] = [line[before]?.id, line[after]?.id];
    if (beforeId === undefined || artifactId === undefined) return [];
    return [{ beforeId, artifactId, change: Number.isFinite(change) ? change : null, exact }];
  });
}

const EndRow = z.object({
  id: z.number().int(),
  tag: z.string(),
  kind: z.string(),
  dated_at: z.date(),
});
export type EndRow = z.infer<typeof EndRow>;

/** Returns the known artifacts with these tags. */
export function artifactsOfTags(tx: Tx, suite: string, tags: readonly string[]): Promise<EndRow[]> {
  return tx.many(
    EndRow,
    sql`select id, tag, kind, dated_at from benchmark_artifact where suite = ${suite} and tag = any(${tags}::text[])`,
  );
}

const DefinitionRow = z.object({ definition: z.unknown() });

/** Returns the definition as it was pushed; undefined when there is no such suite. */
export async function definitionOf(tx: Tx, suite: string): Promise<unknown> {
  const [row] = await tx.many(
    DefinitionRow,
    sql`select definition from benchmark_suite where name = ${suite}`,
  );
  return row?.definition;
}
