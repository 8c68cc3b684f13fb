import type { GraphSet } from "#api/rerun.ts";
import type { PlacePatterns } from "#core/place-patterns.ts";
import type { Tx } from "#db/db.ts";
import { inPlaces } from "#db/in-places.ts";
import { sql } from "#db/sql.ts";
import type { GraphId } from "../graph-id.ts";
import { graphSummaries } from "../graph-summary.store.ts";

/** The graphs of a set at the places, the oldest first. Undefined when there are none. */
export async function graphSet(
  tx: Tx,
  set: GraphId,
  places: PlacePatterns,
): Promise<GraphSet | undefined> {
  const isVisible = inPlaces(places, sql`graph.repository`, sql`graph.branch`);
  const graphs = await graphSummaries(
    tx,
    sql`graph.set_id = ${set} and ${isVisible} order by graph.number`,
  );
  const [first] = graphs;
  return first === undefined ? undefined : { id: first.set, name: first.setName, graphs };
}
