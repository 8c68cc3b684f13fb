import type { Principal } from "#access/principal.ts";
import { requireGrant } from "#access/require-grant.ts";
import { Fault } from "#core/fault.ts";
import type { Verb } from "#core/verb.ts";
import type { Tx } from "#db/db.ts";
import type { GraphId } from "./graph-id.ts";
import { graphPlace } from "./graph-priority.store.ts";

/** Throws `permission_denied` for principals without the right on the graph's branch, `not_found` without a graph. */
export async function requireGrantOnGraph(
  tx: Tx,
  principal: Principal,
  verb: Verb,
  graphId: GraphId,
): Promise<void> {
  const where = await graphPlace(tx, graphId);
  if (where === undefined) throw new Fault("not_found", `there is no graph ${graphId}`);
  requireGrant(principal, verb, where);
}
