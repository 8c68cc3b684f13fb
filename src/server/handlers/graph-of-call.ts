import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { findGraphs } from "#graphs/find-graph.store.ts";
import type { GraphId } from "#graphs/graph-id.ts";
import { found } from "./found.ts";

/**
 * Returns the graph that a caller names by its id, by a unique prefix of an id, or by `latest`.
 *
 * Throws `not_found`, and `invalid_argument` when several ids have this prefix.
 */
export async function graphOfCall(tx: Tx, written: string): Promise<GraphId> {
  const ids = await findGraphs(tx, written);
  if (ids.length > 1) {
    const message = `"${written}" begins several graphs' ids; write more of it`;
    throw new Fault("invalid_argument", message);
  }
  return found(ids[0], `graph "${written}"`);
}
