import { z } from "zod";
import { ForgeRepositoryDetail } from "#api/forge.ts";
import type { Db } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { Farm } from "../../../../test/support/farm.ts";

const MadeGraph = z.object({
  slug: z.string(),
  ref: z.string(),
  sha: z.string(),
  pull: z.number().nullable(),
  generation: z.number(),
  isWanted: z.boolean(),
  /** Null: the farm has no such graph. */
  state: z.string().nullable(),
});
type MadeGraph = z.infer<typeof MadeGraph>;

const TakenCommand = z.object({ slug: z.string(), id: z.string(), state: z.string() });

/**
 * The farm's information about its watched repositories: from its API, or from its tables if the API does not contain
 * it.
 */
export interface FarmTold {
  readonly details: ReadonlyMap<string, ForgeRepositoryDetail>;
  readonly graphs: readonly MadeGraph[];
  /** Graphs without a known cause in a forge. */
  readonly strayGraphs: number;
  readonly commands: readonly z.infer<typeof TakenCommand>[];
  /** The retriggers in the audit log. */
  readonly retriggers: number;
  /** Accepted webhooks, by state. */
  readonly deliveries: Readonly<Record<string, number>>;
  /** Rows that wait to be sent to a forge, or to be checked again for duplicates. */
  readonly waiting: number;
  readonly givenUp: readonly string[];
  readonly requestedBenchmarks: readonly z.infer<typeof RequestedBenchmark>[];
  /** Requests for measuring commits of pull requests, by pull request. */
  readonly tries: ReadonlyMap<number, number>;
}

/** A measurement that a person requested in a comment. */
const RequestedBenchmark = z.object({
  slug: z.string(),
  pull: z.number(),
  state: z.string(),
  isTold: z.boolean(),
});
const Count = z.object({ state: z.string(), count: z.number() });

export async function askFarm(farm: Farm, db: Db, slugs: readonly string[]): Promise<FarmTold> {
  const details = new Map<string, ForgeRepositoryDetail>();
  for (const slug of slugs) details.set(slug, await detailOf(farm, slug));
  const deliveries = await db.many(
    Count,
    sql`select state, count(*)::integer as count from forge_delivery group by state`,
  );
  const [counts] = await db.many(
    z.object({ strays: z.number(), waiting: z.number(), retriggers: z.number() }),
    sql`
      select
        (select count(*)::integer from graph where id not in (select id from forge_graph)) as strays,
        (select count(*)::integer from forge_outbox
         where failed_at is null and (sent_revision < revision or look_again_at is not null)) as waiting,
        (select count(*)::integer from audit_entry where verb = 'retrigger') as retriggers
    `,
  );
  const tries = await db.many(
    z.object({ pr: z.number(), count: z.number() }),
    sql`
      select pr, count(*)::integer as count from benchmark_request
      where kind = 'try' and pr is not null group by pr
    `,
  );
  const givenUp = await db.many(
    z.object({ what: z.string() }),
    sql`
      select repository || ' ' || key || ': ' || coalesce(error, '') as what from forge_outbox
      where failed_at is not null order by 1
    `,
  );
  return {
    details,
    graphs: await db.many(
      MadeGraph,
      sql`
        select r.slug, f.ref, f.sha, f.pull, f.generation, f.cancelled_at is null as "isWanted", g.state
        from forge_graph as f
        join forge_repository as r on r.name = f.repository
        left join graph as g on g.id = f.id
        order by r.slug, f.made_at
      `,
    ),
    strayGraphs: counts?.strays ?? 0,
    retriggers: counts?.retriggers ?? 0,
    waiting: counts?.waiting ?? 0,
    givenUp: givenUp.map(({ what }) => what),
    commands: await db.many(
      TakenCommand,
      sql`
        select r.slug, c.id, c.state
        from forge_comment as c join forge_repository as r on r.name = c.repository
      `,
    ),
    tries: new Map(tries.map(({ pr, count }) => [pr, count])),
    deliveries: Object.fromEntries(deliveries.map(({ state, count }) => [state, count])),
    requestedBenchmarks: await db.many(
      RequestedBenchmark,
      sql`
        select r.slug, s.pull, q.state, s.is_over as "isTold"
        from forge_subject as s
        join forge_repository as r on r.name = s.repository
        join benchmark_request as q on q.id = s.id
        where s.kind = 'request' and s.was_asked_for and s.pull is not null
      `,
    ),
  };
}

async function detailOf(farm: Farm, slug: string): Promise<ForgeRepositoryDetail> {
  const query = new URLSearchParams({ repository: slug }).toString();
  const answer = await fetch(`${farm.url}/api/v1/forge/repository?${query}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`the farm does not tell of ${slug}: ${text}`);
  return ForgeRepositoryDetail.parse(JSON.parse(text));
}
