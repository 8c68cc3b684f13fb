import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { type Sql, sql } from "#db/sql.ts";

/** Selects executions: those that ended since this time; if there are too many, the latest. */
export interface RecentExecutions {
  readonly since: Date;
  readonly most: number;
}

/** The price of one second of a slot, for executions with these requirements that ran on a worker of that platform. */
export interface Price {
  readonly requirements: string;
  /** The platform as `ranOn` reported it; empty when the worker no longer exists. */
  readonly workerPlatform: string;
  readonly sizeClass: number;
  readonly price: number;
}

/**
 * Common table expression `ran`: each attempt that started, with the execution that it was for.
 *
 * The time of a second run that won is reported by the original execution, too: it counts there.
 */
function ran({ since, most }: RecentExecutions): Sql {
  return sql`
    ended as materialized (
      select id, hedge_of, requirements, size_class, attempt, title from execution
      where state = 'finished' and finished_at >= ${since}
      order by finished_at desc limit ${most}
    ),
    ran as materialized (
      select coalesce(ended.hedge_of, ended.id) as asked_id, ended.requirements, ended.title,
        coalesce(worker.platform::text, '') as worker_platform,
        coalesce(attempt.size_class, ended.size_class) as size_class,
        1000 * extract(epoch from attempt.finished_at - attempt.started_at)::double precision as ms,
        attempt.finished_at, attempt.outcome,
        ended.hedge_of is null and attempt.attempt = ended.attempt as is_last
      from ended
      join execution_attempt as attempt on attempt.execution_id = ended.id
      left join worker on worker.name = attempt.worker
      where attempt.started_at is not null and attempt.finished_at >= attempt.started_at
        and (ended.hedge_of is null or not exists (
          select from execution_attempt as told
          where told.execution_id = ended.hedge_of and told.worker = attempt.worker
            and told.started_at = attempt.started_at))
    )`;
}

/** Common table expression `price`. */
function priced(prices: readonly Price[]): Sql {
  return sql`
    price as materialized (
      select * from unnest(
        ${prices.map(({ requirements }) => requirements)}::text[],
        ${prices.map(({ workerPlatform }) => workerPlatform)}::text[],
        ${prices.map(({ sizeClass }) => sizeClass)}::integer[],
        ${prices.map(({ price }) => price)}::double precision[]
      ) as price (requirements, worker_platform, size_class, price)
    )`;
}

const ClassUsageRow = z.object({
  requirements: z.string(),
  workerPlatform: z.string(),
  sizeClass: z.number(),
  /** Whole hours since the epoch. */
  hour: z.number(),
  runs: z.number(),
  /** Executions that ended there. */
  executions: z.number(),
  ms: z.number(),
});
/** The attempts that ran on a size class within an hour. */
export type ClassUsageRow = z.infer<typeof ClassUsageRow>;

export function ranOn(tx: Tx, lately: RecentExecutions): Promise<ClassUsageRow[]> {
  return tx.many(
    ClassUsageRow,
    sql`
      with ${ran(lately)}
      select requirements, worker_platform as "workerPlatform", size_class as "sizeClass",
        floor(extract(epoch from finished_at) / 3600)::integer as hour,
        count(*) as runs, count(*) filter (where is_last) as executions, sum(ms) as ms
      from ran group by 1, 2, 3, 4
    `,
  );
}

/** Returns their number, and the end of the first one. */
export async function endedLately(
  tx: Tx,
  { since, most }: RecentExecutions,
): Promise<{ readonly executions: number; readonly first: Date | null }> {
  const [row] = await tx.many(
    z.object({ executions: z.number(), first: z.date().nullable() }),
    sql`
      select count(*) as executions, min(finished_at) as first from (
        select finished_at from execution
        where state = 'finished' and finished_at >= ${since}
        order by finished_at desc limit ${most}
      ) as ended
    `,
  );
  return row ?? { executions: 0, first: null };
}

const Saved = z.object({
  requirements: z.string(),
  workerPlatform: z.string(),
  /** The class that was chosen first. */
  sizeClass: z.number(),
  amount: z.number(),
  executions: z.number(),
  unknown: z.number(),
});
export type SavedOn = z.infer<typeof Saved>;

/**
 * Returns what choosing saved, compared with always taking the greatest possible class.
 *
 * For each execution: its cost on the greatest class less its real cost with all retries and second runs. The cost on
 * the greatest class uses the measured time if it ended there, and otherwise the time where it ended, scaled by how the
 * first choice compares the two classes. The estimate alone would be wrong: for an action that hung once, it is far too
 * high and would count as saved. Without data the execution counts as unknown. Background runs cost, and would not have
 * run.
 */
export function savedOn(
  tx: Tx,
  lately: RecentExecutions,
  prices: readonly Price[],
): Promise<SavedOn[]> {
  return tx.many(
    Saved,
    sql`
      with ${ran(lately)}, ${priced(prices)},
      spent as (
        select asked_id, min(requirements) as requirements, max(worker_platform) as worker_platform,
          sum(ms * coalesce(price.price, size_class)) as cost,
          max(size_class) filter (where outcome in ('succeeded', 'failed')) as ended_on,
          (array_agg(ms order by size_class desc)
            filter (where outcome in ('succeeded', 'failed')))[1] as ended_ms
        from ran left join price using (requirements, worker_platform, size_class)
        group by asked_id
      ),
      chosen as (
        select spent.*, decision.size_class, purpose,
          greatest(option.size_class, ended_on) as most,
          case when ended_on >= option.size_class then ended_ms
            else coalesce(
              ended_ms * option.expected_ms / nullif(here.expected_ms, 0), option.expected_ms)
          end as ms_there
        from spent
        join size_class_decision as decision on decision.execution_id = asked_id and number = 1
        cross join lateral (
          select (each ->> 'sizeClass')::integer as size_class,
            (each ->> 'expectedMs')::double precision as expected_ms
          from jsonb_array_elements(alternatives) as each
          where jsonb_typeof(each -> 'sizeClass') = 'number'
          order by 1 desc limit 1
        ) as option
        left join lateral (
          select (each ->> 'expectedMs')::double precision as expected_ms
          from jsonb_array_elements(alternatives) as each
          where each ->> 'sizeClass' = ended_on::text limit 1
        ) as here on true
      ),
      compared as (
        select chosen.requirements, chosen.worker_platform, chosen.size_class,
          case when purpose = 'background' then -cost
            else ms_there * coalesce(price.price, most) - cost end as saved
        from chosen left join price
          on price.requirements = chosen.requirements
            and price.worker_platform = chosen.worker_platform and price.size_class = chosen.most
      )
      select requirements, worker_platform as "workerPlatform", size_class as "sizeClass",
        coalesce(sum(saved), 0) / 1000 as amount, count(saved) as executions,
        count(*) filter (where saved is null) as unknown
      from compared group by 1, 2, 3
    `,
  );
}

const KeyCost = z.object({
  project: z.string(),
  domain: z.string(),
  key: z.string(),
  title: z.string(),
  executions: z.number(),
  ms: z.number(),
  cost: z.number(),
});
/** The recent cost of a key's executions, in the farm's unit. */
export type KeyCost = z.infer<typeof KeyCost>;

/**
 * Returns keys by cost, the most expensive first.
 *
 * @param on Only executions on one class of these requirements.
 */
export function costOfKeys(
  tx: Tx,
  lately: RecentExecutions,
  prices: readonly Price[],
  mostKeys: number,
  on?: {
    readonly sizeClass: number;
    readonly among: readonly Pick<Price, "requirements" | "workerPlatform">[];
  },
): Promise<KeyCost[]> {
  const there =
    on === undefined
      ? sql`true`
      : sql`ran.size_class = ${on.sizeClass} and (ran.requirements, ran.worker_platform) in (
          select * from unnest(
            ${on.among.map(({ requirements }) => requirements)}::text[],
            ${on.among.map(({ workerPlatform }) => workerPlatform)}::text[]))`;
  return tx.many(
    KeyCost,
    sql`
      with ${ran(lately)}, ${priced(prices)}
      select project, domain, key, max(title) as title, count(distinct asked_id) as executions,
        sum(ms) as ms, sum(ms * coalesce(price.price, ran.size_class)) / 1000 as cost
      from ran
      join size_class_decision on execution_id = asked_id and number = 1
      left join price on price.requirements = ran.requirements
        and price.worker_platform = ran.worker_platform and price.size_class = ran.size_class
      where ${there}
      group by project, domain, key
      order by cost desc, project, domain, key
      limit ${mostKeys}
    `,
  );
}
