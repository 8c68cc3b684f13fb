import {
  type Activate,
  type Clone,
  ClonedGraph,
  type Customise,
  CustomisedJob,
  type Deactivate,
  GraphSet,
  PlannedChange,
  type Release,
  ReleasedBreakpoint,
  type Retrigger,
  type Waive,
} from "#api/rerun.ts";
import type { ApiClient } from "./api-client.ts";

/**
 * What people do to jobs of graphs; a graph may be written as a unique beginning of its id, or `latest`. With
 * `wholeSet`, it may be the name of a set, too.
 */
export function rerunCalls(api: ApiClient) {
  const path = (graph: string, verb: string, { wholeSet = false } = {}) =>
    `/${wholeSet ? "sets" : "graphs"}/${encodeURIComponent(graph)}/${verb}`;
  return {
    retrigger: (graph: string, request: Retrigger) =>
      api.post(PlannedChange, path(graph, "retrigger", request), request),
    activate: (graph: string, request: Activate) =>
      api.post(PlannedChange, path(graph, "activate", request), request),
    deactivate: (graph: string, request: Deactivate) =>
      api.post(PlannedChange, path(graph, "deactivate", request), request),
    waive: (graph: string, request: Waive) =>
      api.post(PlannedChange, path(graph, "waive"), request),
    release: (graph: string, request: Release) =>
      api.post(ReleasedBreakpoint, path(graph, "release"), request),
    customise: (graph: string, request: Customise) =>
      api.post(CustomisedJob, path(graph, "customise"), request),
    clone: (graph: string, request: Clone) => api.post(ClonedGraph, path(graph, "clone"), request),
    graphSet: (set: string) => api.get(GraphSet, `/sets/${encodeURIComponent(set)}`),
  };
}
