import { GraphId } from "#graphs/graph-id.ts";
import { activate, deactivate } from "#graphs/reruns/activate.ts";
import { cloneGraph } from "#graphs/reruns/clone-graph.ts";
import { customise } from "#graphs/reruns/customise.ts";
import { planToday } from "#graphs/reruns/plan-today.ts";
import { release } from "#graphs/reruns/release.ts";
import { retrigger } from "#graphs/reruns/retrigger.ts";
import { waive } from "#graphs/reruns/waive.ts";
import { graphSet } from "#graphs/sets/graph-set.store.ts";
import { findSet } from "#graphs/sets/join-set.ts";
import type { RerunFarm } from "./http/rerun-farm.ts";
import type { Services } from "./services.ts";

export function bindReruns(services: Services): RerunFarm {
  const { db } = services;
  const cloning = { db, planToday: planToday(services) };
  return {
    retrigger: (id, request, by) => retrigger(services, GraphId.parse(id), request, by),
    activate: (id, request, by) => activate(services, GraphId.parse(id), request, by),
    deactivate: (id, request, by) => deactivate(services, GraphId.parse(id), request, by),
    waive: (id, request, by) => waive(services, GraphId.parse(id), request, by),
    release: (id, request, by) => release(db, GraphId.parse(id), request, by),
    customise: (id, request, by) => customise(services, GraphId.parse(id), request, by),
    clone: (id, request, by) => cloneGraph(cloning, GraphId.parse(id), request, by),
    findSet: (written) => findSet(db, written),
    graphSet: (set) => graphSet(db, GraphId.parse(set)),
  };
}
