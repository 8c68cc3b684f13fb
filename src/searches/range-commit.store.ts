import { z } from "zod";
import type { CommitStanding } from "#api/search.ts";
import { CommitSha } from "#core/commit-sha.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { GraphId } from "#graphs/graph-id.ts";
import type { SearchId } from "./search.store.ts";

/** The current state of a commit of a search. */
export interface StandingOfCommit {
  readonly position: number;
  readonly standing: Exclude<CommitStanding, "unknown">;
  readonly graphId: GraphId | null;
  readonly why: string | null;
}

export async function saveStandings(
  tx: Tx,
  id: SearchId,
  commits: readonly StandingOfCommit[],
): Promise<void> {
  if (commits.length === 0) return;
  await tx.run(sql`
    update range_commit
    set standing = c.standing, graph_id = coalesce(c.graph_id, range_commit.graph_id), why = c.why
    from unnest(${commits.map(({ position }) => position)}::integer[],
                ${commits.map(({ standing }) => standing)}::text[],
                ${commits.map(({ graphId }) => graphId)}::uuid[],
                ${commits.map(({ why }) => why)}::text[]) as c (position, standing, graph_id, why)
    where range_commit.search_id = ${id} and range_commit.position = c.position
  `);
}

const KnownRow = z.object({
  position: z.number(),
  standing: z.enum(["asked", "good", "bad", "skipped"]),
});

/** Returns the known results of a search's commits; for a long range these are few. */
export async function knownStandings(
  tx: Tx,
  id: SearchId,
): Promise<Map<number, z.infer<typeof KnownRow>["standing"]>> {
  const rows = await tx.many(
    KnownRow,
    sql`
      select position, standing from range_commit
      where search_id = ${id} and standing in ('asked', 'good', 'bad', 'skipped')
    `,
  );
  return new Map(rows.map(({ position, standing }) => [position, standing]));
}

const RequestedCommit = z.object({ position: z.number(), commit: CommitSha, graphId: GraphId });
type RequestedCommit = z.infer<typeof RequestedCommit>;

/** Returns commits whose jobs are running. */
export function requestedCommits(tx: Tx, id: SearchId): Promise<RequestedCommit[]> {
  return tx.many(
    RequestedCommit,
    sql`
      select position, commit, graph_id as "graphId" from range_commit
      where search_id = ${id} and standing = 'asked'
      order by position desc
    `,
  );
}

const OpenCommit = z.object({ position: z.number(), commit: CommitSha });
export type OpenCommit = z.infer<typeof OpenCommit>;

/** Returns commits that have not been requested yet, the newest first. */
export function unknownCommits(tx: Tx, id: SearchId, most: number): Promise<OpenCommit[]> {
  return tx.many(
    OpenCommit,
    sql`
      select position, commit from range_commit
      where search_id = ${id} and standing = 'unknown'
      order by position desc
      limit ${most}
    `,
  );
}

export function commitsAt(
  tx: Tx,
  id: SearchId,
  positions: readonly number[],
): Promise<OpenCommit[]> {
  return tx.many(
    OpenCommit,
    sql`
      select position, commit from range_commit
      where search_id = ${id} and position = any(${positions}::integer[])
      order by position
    `,
  );
}

/** Returns the next commits of a search after a position, the oldest first. */
export function commitsAfter(
  tx: Tx,
  id: SearchId,
  after: number,
  most: number,
): Promise<OpenCommit[]> {
  return tx.many(
    OpenCommit,
    sql`
      select position, commit from range_commit
      where search_id = ${id} and position > ${after}
      order by position
      limit ${most}
    `,
  );
}
