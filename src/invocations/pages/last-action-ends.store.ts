import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { InvocationName } from "./invocation-row.store.ts";

const End = z.object({ project: z.string(), id: z.string(), at: z.date().nullable() });

/** The actions of an invocation, the last requested ones, among which the last end is searched. */
const mostSearched = 200;

/**
 * Returns when the last action of each invocation ended, for those that have one.
 *
 * A client that only executes actions makes one call for each and then waits: its last call can be long before the end
 * of its build. Only the last requested actions are read, so that a build of 100,000 actions costs no more than others.
 */
export async function lastActionEnds(
  tx: Tx,
  names: readonly InvocationName[],
): Promise<{ readonly project: string; readonly id: string; readonly at: Date | null }[]> {
  if (names.length === 0) return [];
  return tx.many(
    End,
    sql`
      select given.project, given.id, (
        select max(finished_at) from (
          select finished_at from operation
          where project = given.project and invocation = given.id
          order by requested_at desc, id desc limit ${mostSearched}
        ) as newest
      ) as at
      from unnest(${names.map(({ project }) => project)}::text[], ${names.map(({ id }) => id)}::text[])
        as given (project, id)
    `,
  );
}
