import { placesOf } from "#access/places-of.ts";
import type { Principal } from "#access/principal.ts";
import { requireGrant } from "#access/require-grant.ts";
import { meansGraph } from "#api/set-name.ts";
import { Fault } from "#core/fault.ts";
import type { PlacePatterns } from "#core/place-patterns.ts";
import type { Tx } from "#db/db.ts";
import { findGraphs } from "../find-graph.store.ts";
import type { GraphId } from "../graph-id.ts";
import { nameSet, placesOfSet, setOfGraph, setOfName } from "./named-set.store.ts";

/** Graphs of one set: more would make a change of all of them, and their list, too long. */
const mostGraphs = 1_000;

/**
 * Returns the set that a new graph joins: by a name, or by a graph of the set.
 *
 * An unused name is that of a new set. When two graphs take it at once, the second waits for the first and joins it.
 * The caller needs the right to submit wherever the set has graphs, because a change of a set applies to all of them.
 * Throws `not_found` for an unknown graph, `permission_denied`, and `resource_exhausted` for a full set.
 */
export async function joinSet(
  tx: Tx,
  written: string,
  graph: GraphId,
  by: Principal,
): Promise<GraphId> {
  const set = meansGraph(written)
    ? await setOfWrittenGraph(tx, written, placesOf(by, ["read", "submit"]))
    : await nameSet(tx, { name: written, id: graph, by: by.name });
  if (set === undefined) {
    throw new Fault("aborted", `graph ${graph} was submitted for another set a moment ago`);
  }
  if (set === graph) return set;
  const places = await placesOfSet(tx, set);
  for (const place of places) requireGrant(by, "submit", place);
  const graphs = places.reduce((sum, place) => sum + place.graphs, 0);
  if (graphs >= mostGraphs) {
    throw new Fault(
      "resource_exhausted",
      `the set ${written} has ${graphs} graphs, the maximum of a set; start another one`,
    );
  }
  return set;
}

/** Returns a set by its name or by any of its graphs at the places. Undefined when there is none. */
export async function findSet(
  tx: Tx,
  written: string,
  places: PlacePatterns,
): Promise<GraphId | undefined> {
  return meansGraph(written) ? setOfWrittenGraph(tx, written, places) : setOfName(tx, written);
}

async function setOfWrittenGraph(tx: Tx, written: string, places: PlacePatterns): Promise<GraphId> {
  const [found, other] = await findGraphs(tx, written, places);
  if (other !== undefined) {
    throw new Fault(
      "invalid_argument",
      `"${written}" is the start of several graphs' ids; write more digits`,
    );
  }
  const set = found && (await setOfGraph(tx, found.id));
  if (set !== undefined) return set;
  throw new Fault(
    "not_found",
    `there is no graph "${written}" whose set could be meant; the name of a new set must not look like the beginning of an id`,
  );
}
