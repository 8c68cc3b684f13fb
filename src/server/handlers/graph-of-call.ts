import { Fault } from "#core/fault.ts";
import type { PlacePatterns } from "#core/place-patterns.ts";
import type { Tx } from "#db/db.ts";
import { findGraphs } from "#graphs/find-graph.store.ts";
import { GraphId } from "#graphs/graph-id.ts";
import { found } from "./found.ts";

/**
 * Returns the graph that a caller names by its id, by a unique prefix of an id, or by `latest`, among the graphs at the
 * places that the caller may know of.
 *
 * Throws `not_found`, and `invalid_argument` when several ids have this prefix.
 */
export async function graphOfCall(
  tx: Tx,
  written: string,
  visible: PlacePatterns,
): Promise<{ readonly id: GraphId; readonly repository: string; readonly branch: string }> {
  const graphs = await findGraphs(tx, written, visible);
  if (graphs.length > 1) {
    const message = `"${written}" is the start of several graphs' ids; write more digits`;
    throw new Fault("invalid_argument", message);
  }
  return found(graphs[0], `graph "${written}"`);
}

/** Returns the graph of a call whose right was checked: then the parameter is its whole id. */
export function graphIdOf({ graph }: { readonly graph: string }): GraphId {
  return GraphId.parse(graph);
}
