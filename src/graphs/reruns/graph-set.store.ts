import type { GraphSet } from "#api/rerun.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { GraphId } from "../graph-id.ts";
import { graphSummaries } from "../graph-summary.store.ts";

/** All graphs of the set that a graph is in, the oldest first. */
export async function graphSet(tx: Tx, graphId: GraphId): Promise<GraphSet | undefined> {
  const graphs = await graphSummaries(
    tx,
    sql`
      graph.set_id = (select of.set_id from graph as of where of.id = ${graphId})
      order by graph.number
    `,
  );
  const [first] = graphs;
  return first === undefined ? undefined : { id: first.set, graphs };
}
