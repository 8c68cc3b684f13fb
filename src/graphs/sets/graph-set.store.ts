import type { GraphSet } from "#api/rerun.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { GraphId } from "../graph-id.ts";
import { graphSummaries } from "../graph-summary.store.ts";

/** All graphs of a set, the oldest first. */
export async function graphSet(tx: Tx, set: GraphId): Promise<GraphSet | undefined> {
  const graphs = await graphSummaries(tx, sql`graph.set_id = ${set} order by graph.number`);
  const [first] = graphs;
  return first === undefined ? undefined : { id: first.set, name: first.setName, graphs };
}
