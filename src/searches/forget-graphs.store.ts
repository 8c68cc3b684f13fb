import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/** Those of some graphs that a search which still runs has asked for. */
export async function graphsOfRunningSearches(
  tx: Tx,
  graphs: readonly string[],
): Promise<string[]> {
  const rows = await tx.many(
    z.object({ id: z.string() }),
    sql`
      select distinct range_commit.graph_id as id
      from range_commit join range_search on range_search.id = range_commit.search_id
      where range_commit.graph_id = any(${graphs}::uuid[]) and range_search.state = 'running'
    `,
  );
  return rows.map(({ id }) => id);
}

/** Lets searches that are over no longer name graphs, which are being deleted. What was found of commits stays. */
export async function forgetGraphsOfSearches(tx: Tx, graphs: readonly string[]): Promise<void> {
  // A search that was cancelled never learned what it had asked.
  await tx.run(sql`
    update range_commit
    set graph_id = null, standing = case standing when 'asked' then 'unknown' else standing end
    where graph_id = any(${graphs}::uuid[])
  `);
  await tx.run(sql`update range_search set set_id = null where set_id = any(${graphs}::uuid[])`);
}
