import { placesOf } from "#access/places-of.ts";
import type { Principal } from "#access/principal.ts";
import type { rerunEndpoints } from "#api/endpoints/rerun-endpoints.ts";
import type { PlacePatterns } from "#core/place-patterns.ts";
import { GraphId } from "#graphs/graph-id.ts";
import { activate, deactivate } from "#graphs/reruns/activate.ts";
import { cloneGraph } from "#graphs/reruns/clone-graph.ts";
import { customise } from "#graphs/reruns/customise.ts";
import { planToday } from "#graphs/reruns/plan-today.ts";
import { release } from "#graphs/reruns/release.ts";
import { retrigger } from "#graphs/reruns/retrigger.ts";
import { waive } from "#graphs/reruns/waive.ts";
import { setGraphPriority } from "#graphs/set-graph-priority.ts";
import { graphSet } from "#graphs/sets/graph-set.store.ts";
import { findSet } from "#graphs/sets/join-set.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import { found } from "./found.ts";
import { graphIdOf } from "./graph-of-call.ts";
import type { HandlerServices } from "./handler-services.ts";

export function rerunHandlers(services: HandlerServices): HandlersFor<typeof rerunEndpoints> {
  const { db } = services;
  const cloning = { db, planToday: planToday(services) };
  // The right was checked with the places that the caller may know of, and each change checks those of its graphs.
  const setOf = async (written: string, caller: Principal): Promise<GraphId> =>
    GraphId.parse(found(await findSet(db, written, seenBy(caller)), `set "${written}"`));

  return {
    async retrigger({ params, body, caller }) {
      const id = graphIdOf(params);
      return found(await retrigger(services, id, body, caller), `graph ${id}`);
    },
    async retriggerSet({ params, body, caller }) {
      const id = await setOf(params.set, caller);
      return found(await retrigger(services, id, { ...body, wholeSet: true }, caller), `set ${id}`);
    },
    async activate({ params, body, caller }) {
      const id = graphIdOf(params);
      return found(await activate(services, id, body, caller), `graph ${id}`);
    },
    async activateSet({ params, body, caller }) {
      const id = await setOf(params.set, caller);
      return found(await activate(services, id, { ...body, wholeSet: true }, caller), `set ${id}`);
    },
    async deactivate({ params, body, caller }) {
      const id = graphIdOf(params);
      return found(await deactivate(services, id, body, caller), `graph ${id}`);
    },
    async deactivateSet({ params, body, caller }) {
      const id = await setOf(params.set, caller);
      return found(
        await deactivate(services, id, { ...body, wholeSet: true }, caller),
        `set ${id}`,
      );
    },
    async waive({ params, body, caller }) {
      const id = graphIdOf(params);
      return found(await waive(services, id, body, caller), jobIn(id, body.job));
    },
    async release({ params, body, caller }) {
      const id = graphIdOf(params);
      return found(await release(db, id, body, caller), jobIn(id, body.job));
    },
    async customise({ params, body, caller }) {
      const id = graphIdOf(params);
      return found(await customise(services, id, body, caller), jobIn(id, body.job));
    },
    async setPriority({ params, body, caller }) {
      const id = graphIdOf(params);
      return found(await setGraphPriority(services.queue, id, body, caller), `graph ${id}`);
    },
    async clone({ params, body, caller }) {
      const id = graphIdOf(params);
      return found(await cloneGraph(cloning, id, body, caller), `graph ${id}`);
    },
    async graphSet({ params, caller }) {
      const id = await setOf(params.set, caller);
      return found(await graphSet(db, id, placesOf(caller, ["read"])), `set ${id}`);
    },
  };
}

/** The verbs of all changes count: which one a call needs, the change itself checks. */
function seenBy(caller: Principal): PlacePatterns {
  return placesOf(caller, ["read", "retrigger", "activate"]);
}

function jobIn(id: GraphId, job: string): string {
  return `job "${job}" in graph ${id}`;
}
