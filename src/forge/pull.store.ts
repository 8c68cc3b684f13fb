import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { PullRequest } from "./forge.ts";
import { notifyForge } from "./repository.store.ts";

const Pull = z.object({
  repository: z.string(),
  number: z.number(),
  state: z.enum(["open", "closed", "merged"]),
  title: z.string(),
  author: z.string(),
  head: z.string(),
  /** The earliest time, by the forge's clock, at which it is known to have had this head. */
  headSince: z.date(),
  baseRef: z.string(),
  baseSha: z.string(),
  headRepository: z.string().nullable(),
  isFork: z.boolean(),
  updatedAt: z.date(),
  settled: z.string().nullable(),
  /** Why no graph could be made for it. */
  problem: z.string().nullable(),
  approvedHead: z.string().nullable(),
  approvedBy: z.string().nullable(),
  approvedAt: z.date().nullable(),
});
export type KnownPull = z.infer<typeof Pull>;

const columns = sql`
  repository, number, state, title, author, head, head_since as "headSince", base_ref as "baseRef",
  base_sha as "baseSha", head_repository as "headRepository", is_fork as "isFork", updated_at as "updatedAt",
  settled, problem, approved_head as "approvedHead", approved_by as "approvedBy", approved_at as "approvedAt"
`;

export async function findPull(
  tx: Tx,
  repository: string,
  number: number,
): Promise<KnownPull | undefined> {
  const [found] = await tx.many(
    Pull,
    sql`select ${columns} from forge_pull where repository = ${repository} and number = ${number}`,
  );
  return found;
}

/** Open pull requests, and those with pending work. */
export function livePulls(tx: Tx, repository: string): Promise<KnownPull[]> {
  return tx.many(
    Pull,
    sql`
      select ${columns} from forge_pull
      where repository = ${repository} and (state = 'open' or settled is distinct from 'over')
      order by number
    `,
  );
}

export function latestPulls(tx: Tx, repository: string, most: number): Promise<KnownPull[]> {
  return tx.many(
    Pull,
    sql`
      select ${columns} from forge_pull where repository = ${repository}
      order by state = 'open' desc, number desc limit ${most}
    `,
  );
}

/** A pull request as the forge shows it, with the time of its head. */
interface SeenPull extends PullRequest {
  readonly headSince: Date;
}

/** Stores the data of a pull request. Older data changes nothing; an approval ends when the head moves. */
export async function keepPull(tx: Tx, repository: string, pull: SeenPull): Promise<void> {
  await tx.run(sql`
    insert into forge_pull as known (repository, number, state, title, author, head, head_since, base_ref,
                                     base_sha, head_repository, is_fork, updated_at)
    values (${repository}, ${pull.number}, ${pull.state}, ${pull.title}, ${pull.author}, ${pull.head},
            ${pull.headSince}, ${pull.baseRef}, ${pull.baseSha}, ${pull.headRepository ?? null},
            ${pull.isFork}, ${pull.updatedAt})
    on conflict (repository, number) do update
    set state = excluded.state, title = excluded.title, author = excluded.author, head = excluded.head,
        head_since = excluded.head_since, base_ref = excluded.base_ref, base_sha = excluded.base_sha,
        head_repository = excluded.head_repository, is_fork = excluded.is_fork,
        updated_at = excluded.updated_at,
        problem = case when known.head = excluded.head then known.problem end,
        approved_head = case when known.approved_head = excluded.head then known.approved_head end,
        approved_by = case when known.approved_head = excluded.head then known.approved_by end,
        approved_at = case when known.approved_head = excluded.head then known.approved_at end
    where known.updated_at <= excluded.updated_at
  `);
}

/** Records that everything was made for that situation, or cannot be made: `problem` contains the reason. */
export async function settlePull(
  tx: Tx,
  repository: string,
  {
    number,
    head,
    settled,
    problem,
  }: {
    readonly number: number;
    readonly head: string;
    readonly settled: string;
    readonly problem: string | null;
  },
): Promise<void> {
  await tx.run(sql`
    update forge_pull set settled = ${settled}, problem = ${problem}
    where repository = ${repository} and number = ${number} and head = ${head}
  `);
}

/**
 * Records an approval of one commit; returns false when that is no longer the head, or the pull request is closed.
 *
 * The server that watches the repository then makes the graphs at once.
 */
export async function approvePull(
  tx: Tx,
  approval: {
    readonly repository: string;
    readonly number: number;
    readonly head: string;
    readonly by: string;
    readonly at: Date;
  },
): Promise<boolean> {
  const { repository, number, head, by, at } = approval;
  const approved = await tx.run(sql`
    update forge_pull set approved_head = ${head}, approved_by = ${by}, approved_at = ${at}
    where repository = ${repository} and number = ${number} and head = ${head} and state = 'open'
  `);
  if (approved === 0) return false;
  await tx.run(
    sql`update forge_repository set next_at = least(next_at, ${at}) where name = ${repository}`,
  );
  await notifyForge(tx);
  return true;
}
