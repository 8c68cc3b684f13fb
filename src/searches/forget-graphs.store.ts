import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/** Returns those of some graphs that a running search has requested. */
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

/** Removes references to graphs that are being deleted from ended searches. The results of commits stay. */
export async function forgetGraphsOfSearches(tx: Tx, graphs: readonly string[]): Promise<void> {
  // A cancelled search did not process its last requests.
  await tx.run(sql`
    update range_commit
    set graph_id = null, standing = case standing when 'asked' then 'unknown' else standing end
    where graph_id = any(${graphs}::uuid[])
  `);
  await tx.run(sql`update range_search set set_id = null where set_id = any(${graphs}::uuid[])`);
}
