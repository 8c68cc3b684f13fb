import { z } from "zod";
import type { NoticedDefinitions } from "#api/branch.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const Watched = z.object({
  repository: z.string(),
  rev: z.string(),
  commit: z.string().nullable(),
});
/** Another repository at a revision that may move, and the commit of it that was read last. */
type WatchedDefinitions = z.infer<typeof Watched>;

/**
 * Updates the list to the current sources of branches: other repositories at movable revisions (not commit ids).
 *
 * Returns whether there are any.
 */
export async function keepListOfSources(tx: Tx, now: Date): Promise<boolean> {
  const rows = await tx.many(
    z.object({ repository: z.string() }),
    sql`
      with said as (
        select distinct on (repository, branch) body -> 'source' as source
        from branch_definition
        order by repository, branch, number desc
      ),
      wanted as (
        select distinct source ->> 'repository' as repository, coalesce(source ->> 'rev', 'HEAD') as rev
        from said
        where source ->> 'kind' = 'repository' and coalesce(source ->> 'rev', 'HEAD') !~ '^[0-9a-f]{40}$'
      ),
      forgotten as (
        delete from watched_definitions
        where not exists (
          select from wanted
          where wanted.repository = watched_definitions.repository and wanted.rev = watched_definitions.rev)
      ),
      added as (
        insert into watched_definitions (repository, rev, next_at)
        select repository, rev, ${now} from wanted
        on conflict do nothing
      )
      select repository from wanted limit 1
    `,
  );
  return rows.length > 0;
}

/**
 * Takes the source that has been due the longest; no other server takes it before `nextAt`. Undefined when none is due.
 */
export async function takeSourceToRead(
  tx: Tx,
  now: Date,
  nextAt: Date,
): Promise<WatchedDefinitions | undefined> {
  const [row] = await tx.many(
    Watched,
    sql`
      with due as (
        select repository, rev from watched_definitions
        where next_at <= ${now}
        order by next_at
        limit 1
        for update skip locked
      )
      update watched_definitions
      set next_at = ${nextAt}
      from due
      where watched_definitions.repository = due.repository and watched_definitions.rev = due.rev
      returning watched_definitions.repository, watched_definitions.rev, commit
    `,
  );
  return row;
}

/** Stores the present state of a source. With a problem, stores that it cannot be read and keeps the previous state. */
export async function noteSource(
  tx: Tx,
  { repository, rev }: Pick<WatchedDefinitions, "repository" | "rev">,
  found: { readonly commit: string; readonly catalog: string } | { readonly problem: string },
  now: Date,
): Promise<void> {
  await tx.run(
    "problem" in found
      ? sql`
          update watched_definitions set problem = ${found.problem}
          where repository = ${repository} and rev = ${rev}
        `
      : sql`
          update watched_definitions
          set commit = ${found.commit}, catalog = ${found.catalog}, problem = null,
              since = case when commit = ${found.commit} then since else ${now} end
          where repository = ${repository} and rev = ${rev}
        `,
  );
}

const NoticedRow = z.object({
  commit: z.string().nullable(),
  catalog: z.string().nullable(),
  since: z
    .date()
    .transform((date) => date.toISOString())
    .nullable(),
  problem: z.string().nullable(),
});

/** Returns the stored state of a source; undefined when it is not watched, or was not read yet. */
export async function noticedDefinitions(
  tx: Tx,
  { repository, rev }: Pick<WatchedDefinitions, "repository" | "rev">,
): Promise<NoticedDefinitions | undefined> {
  const [row] = await tx.many(
    NoticedRow,
    sql`
      select commit, catalog, since, problem from watched_definitions
      where repository = ${repository} and rev = ${rev} and (commit is not null or problem is not null)
    `,
  );
  return row;
}
