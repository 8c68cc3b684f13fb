import type { StoredGraph } from "../advancing/stored-graph.fixture.ts";
import { GraphId } from "../graph-id.ts";
import type { GraphSnapshot } from "./graph-snapshot.ts";

const someGraph = GraphId.parse("00000000-0000-4000-8000-000000000001");

/** Returns what a store would read of a graph in memory. */
export function snapshotOfStored(stored: StoredGraph): GraphSnapshot {
  return {
    id: someGraph,
    repository: "r",
    branch: "main",
    version: 1,
    jobs: [...stored.jobs.values()]
      .toSorted((a, b) => a.depth - b.depth)
      .map((job) => ({ ...job, tags: {}, version: 1 })),
    edges: [...stored.edges.values()],
  };
}
