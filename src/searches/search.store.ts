import { z } from "zod";
import { CommitStanding, type Search, type SearchCommit } from "#api/search.ts";
import { CommitSha } from "#core/commit-sha.ts";
import type { PlacePatterns } from "#core/place-patterns.ts";
import type { Tx } from "#db/db.ts";
import { inPlaces } from "#db/in-places.ts";
import { type Sql, sql } from "#db/sql.ts";
import { GraphId } from "#graphs/graph-id.ts";

export const SearchId = z.uuid().brand<"SearchId">();
export type SearchId = z.infer<typeof SearchId>;

/** A search at its start. */
export interface NewSearch {
  readonly id: SearchId;
  readonly kind: "backfill" | "bisect";
  readonly repository: string;
  readonly branch: string;
  readonly selection: string;
  readonly after: CommitSha;
  readonly last: CommitSha;
  readonly commits: number;
  readonly step: number;
  readonly parallel: number;
  readonly sameResults: number;
  readonly startedBy: string;
  readonly reason: string | undefined;
}

export async function insertSearch(tx: Tx, search: NewSearch): Promise<void> {
  await tx.run(sql`
    insert into range_search (id, kind, repository, branch, selection, after_commit, last_commit, commits,
                              step, parallel, same_results, started_by, reason, remaining_from, remaining_to)
    values (${search.id}, ${search.kind}, ${search.repository}, ${search.branch}, ${search.selection},
            ${search.after}, ${search.last}, ${search.commits}, ${search.step}, ${search.parallel},
            ${search.sameResults}, ${search.startedBy}, ${search.reason ?? null},
            ${search.kind === "bisect" ? 1 : null}, ${search.kind === "bisect" ? search.commits : null})
  `);
}

/** Adds commits of the range: the first at `newest`, each further one a position lower. */
export async function insertRangeCommits(
  tx: Tx,
  id: SearchId,
  newest: number,
  commits: readonly CommitSha[],
): Promise<void> {
  await tx.run(sql`
    insert into range_commit (search_id, position, commit)
    select ${id}, ${newest} + 1 - place, commit
    from unnest(${commits}::text[]) with ordinality as c (commit, place)
  `);
}

const SearchToStep = z.object({
  id: SearchId,
  kind: z.enum(["backfill", "bisect"]),
  repository: z.string(),
  branch: z.string(),
  selection: z.string(),
  last: CommitSha,
  commits: z.number(),
  parallel: z.number(),
  sameResults: z.number(),
  startedBy: z.string(),
  set: GraphId.nullable(),
});
/** A search whose next step this server executes. */
export type SearchToStep = z.infer<typeof SearchToStep>;

/**
 * Takes the right to the next step of a running search, if no other server has it; the right expires.
 *
 * Chooses the search that has waited longest, and none in `had`.
 */
export async function holdSearch(
  tx: Tx,
  forSeconds: number,
  had: readonly SearchId[],
  id?: SearchId,
): Promise<SearchToStep | undefined> {
  const [held] = await tx.many(
    SearchToStep,
    sql`
      with free as (
        select id from range_search
        where state = 'running' and (held_until is null or held_until <= now())
          and id <> all(${had}::uuid[])
          and (${id === undefined} or id = ${id ?? null})
        order by held_until nulls first
        limit 1
        for update skip locked
      )
      update range_search as search
      set held_until = now() + make_interval(secs => ${forSeconds})
      from free
      where search.id = free.id
      returning search.id, search.kind, search.repository, search.branch, search.selection,
                search.last_commit as last, search.commits, search.parallel,
                search.same_results as "sameResults", search.started_by as "startedBy", search.set_id as set
    `,
  );
  return held;
}

/** Extends the right; returns false when the search has ended or was cancelled. */
export async function keepHolding(tx: Tx, id: SearchId, forSeconds: number): Promise<boolean> {
  const kept = await tx.run(sql`
    update range_search set held_until = now() + make_interval(secs => ${forSeconds})
    where id = ${id} and state = 'running'
  `);
  return kept > 0;
}

/** Releases the right; searches that became free earlier are chosen first. */
export async function releaseSearch(tx: Tx, id: SearchId): Promise<void> {
  await tx.run(sql`
    update range_search set held_until = clock_timestamp() where id = ${id} and state = 'running'
  `);
}

/** Names the set of the search's graphs after the first of them. */
export async function nameSearchSet(tx: Tx, id: SearchId, set: GraphId): Promise<void> {
  await tx.run(sql`update range_search set set_id = coalesce(set_id, ${set}) where id = ${id}`);
}

/** Narrows the remaining range of a bisection. */
export async function narrowSearch(
  tx: Tx,
  id: SearchId,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  await tx.run(sql`
    update range_search set remaining_from = ${from}, remaining_to = ${to}
    where id = ${id} and (remaining_from, remaining_to) is distinct from (${from}, ${to})
  `);
}

/** Returns false when it had already ended. */
export async function endSearch(
  tx: Tx,
  id: SearchId,
  state: "finished" | "cancelled",
  message: string,
): Promise<boolean> {
  const ended = await tx.run(sql`
    update range_search
    set state = ${state}, message = ${message}, finished_at = now(), held_until = null
    where id = ${id} and state = 'running'
  `);
  return ended > 0;
}

const isoTime = z.date().transform((date) => date.toISOString());
const SearchRow = z.object({
  id: z.string(),
  kind: z.enum(["backfill", "bisect"]),
  repository: z.string(),
  branch: z.string(),
  selection: z.string(),
  after: z.string(),
  last: z.string(),
  step: z.number(),
  parallel: z.number(),
  sameResults: z.number(),
  state: z.enum(["running", "finished", "cancelled"]),
  startedBy: z.string(),
  reason: z.string().nullable(),
  set: z.string().nullable(),
  commits: z.number(),
  counts: z.partialRecord(CommitStanding, z.number()),
  message: z.string().nullable(),
  createdAt: isoTime,
  finishedAt: isoTime.nullable(),
  remainingFrom: z.number().nullable(),
  remainingTo: z.number().nullable(),
});

/** How many of the remaining commits are shown; a list of thousands is not useful. */
const mostRemaining = 50;

/** Returns searches with their present state, the newest first. */
export async function searches(tx: Tx, which: Sql, most: number): Promise<Search[]> {
  const rows = await tx.many(
    SearchRow,
    sql`
      select id, kind, repository, branch, selection, after_commit as after, last_commit as last, step, parallel,
             same_results as "sameResults", state, started_by as "startedBy", reason, set_id as set, commits,
             message, created_at as "createdAt", finished_at as "finishedAt",
             remaining_from as "remainingFrom", remaining_to as "remainingTo",
             coalesce((
               select jsonb_object_agg(standing, number)
               from (select standing, count(*) as number from range_commit
                     where search_id = range_search.id group by standing) as counted
             ), '{}') as counts
      from range_search
      where ${which}
      order by number desc
      limit ${most}
    `,
  );
  return Promise.all(
    rows.map(async ({ remainingFrom, remainingTo, ...row }) => ({
      ...row,
      remaining:
        remainingFrom === null || remainingTo === null
          ? []
          : await commitsOfSearch(
              tx,
              SearchId.parse(row.id),
              sql`position between ${remainingFrom} and ${remainingTo}`,
              mostRemaining,
            ),
    })),
  );
}

const CommitRow = z.object({
  position: z.number(),
  commit: z.string(),
  standing: CommitStanding,
  graphId: z.string().nullable(),
  why: z.string().nullable(),
});

/** Returns commits of a search, the newest first. */
export function commitsOfSearch(
  tx: Tx,
  id: SearchId,
  which: Sql,
  most: number,
): Promise<SearchCommit[]> {
  return tx.many(
    CommitRow,
    sql`
      select position, commit, standing, graph_id as "graphId", why
      from range_commit
      where search_id = ${id} and ${which}
      order by position desc
      limit ${most}
    `,
  );
}

/** Returns the repository and the branch of a search. */
export async function placeOfSearch(
  tx: Tx,
  id: SearchId,
): Promise<{ readonly repository: string; readonly branch: string } | undefined> {
  const [place] = await tx.many(
    z.object({ repository: z.string(), branch: z.string() }),
    sql`select repository, branch from range_search where id = ${id}`,
  );
  return place;
}

/** Returns a search by its id. */
export async function findSearch(tx: Tx, id: SearchId): Promise<Search | undefined> {
  const [found] = await searches(tx, sql`id = ${id}`, 1);
  return found;
}

/** Returns the newest searches at the places, of one repository or of all. */
export function newestSearches(
  tx: Tx,
  repository: string | undefined,
  most: number,
  places: PlacePatterns,
): Promise<Search[]> {
  return searches(
    tx,
    sql`(${repository === undefined} or repository = ${repository ?? null})
      and ${inPlaces(places, sql`repository`, sql`branch`)}`,
    most,
  );
}

/** Returns commits of a search before a position, the newest first. */
export function commitsBefore(
  tx: Tx,
  id: SearchId,
  before: number | undefined,
  most: number,
): Promise<SearchCommit[]> {
  const which = before === undefined ? sql`true` : sql`position < ${before}`;
  return commitsOfSearch(tx, id, which, most);
}
