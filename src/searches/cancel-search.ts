import { recordAudit } from "#access/audit.store.ts";
import type { Principal } from "#access/principal.ts";
import { requireGrant } from "#access/require-grant.ts";
import type { Db } from "#db/db.ts";
import { type CancellingQueue, cancelGraph } from "#graphs/cancel-graph.ts";
import { GraphId } from "#graphs/graph-id.ts";
import { searchGraphsUnderWay } from "#graphs/graphs-of-commits.store.ts";
import { endSearch, findSearch, type SearchId } from "./search.store.ts";

/**
 * Ends a search and its unfinished graphs.
 *
 * Jobs that it requested in graphs of others continue there. Calling it again also ends graphs that a crashed server
 * left. Returns false when there is no such search.
 */
export async function cancelSearch(
  db: Db,
  queue: CancellingQueue,
  id: SearchId,
  by: Principal,
): Promise<boolean> {
  const search = await findSearch(db, id);
  if (search === undefined) return false;
  requireGrant(by, "cancel", search);
  const isEnded = await db.transaction(async (tx) => {
    if (!(await endSearch(tx, id, "cancelled", `cancelled by ${by.name}`))) return false;
    await recordAudit(tx, { actor: by.name, verb: "cancel", detail: { search: id } });
    return true;
  });
  if (!isEnded && search.state !== "cancelled") return true;
  // Read again: the set may have received its name meanwhile.
  const { set } = (await findSearch(db, id)) ?? search;
  if (set === null) return true;
  for (const graphId of await searchGraphsUnderWay(db, GraphId.parse(set), search.kind)) {
    await cancelGraph(db, queue, by, graphId);
  }
  return true;
}
