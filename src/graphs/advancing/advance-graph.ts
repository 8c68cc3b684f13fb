import type { RunCause } from "#api/graph.ts";
import { AdvancingGraph } from "./advancing-graph.ts";
import type { AdvancingEdge, AdvancingJob, GraphPart } from "./graph-part.ts";

/** Reads the parts of a graph that changes run into, so that the rest is never read. */
export interface GraphReader {
  /** The out-edges of jobs, with the jobs that wait at their ends. */
  outEdgesOf(names: readonly string[]): Promise<GraphPart>;
  /** The in-edges of jobs, with the jobs that these wait for. */
  inEdgesOf(names: readonly string[]): Promise<GraphPart>;
}

/** A job that is now different from what was stored. */
interface AdvancedJob extends AdvancingJob {
  readonly was: AdvancingJob["state"];
  /** It was unreachable and no longer is: its next run is a revival. */
  readonly isRevived: boolean;
  /** For a join whose edges are all met: the cause of its run, which is finished. */
  readonly joinedBecause: RunCause | null;
}

export interface Advance {
  readonly jobs: readonly AdvancedJob[];
  readonly edges: readonly AdvancingEdge[];
}

/**
 * Passes changes of some jobs on through the graph, to the last job that they concern.
 *
 * It works from low depth to high: before a job is decided, everything that it waits for is decided, so each job is
 * decided once. The work is in proportion to the edges that are touched, not to the size of the graph.
 */
export async function advanceGraph(
  happened: readonly AdvancingJob[],
  reader: GraphReader,
): Promise<Advance> {
  const graph = new AdvancingGraph(happened);
  for (;;) {
    const names = graph.nextLevel();
    if (names === undefined) return graph.result();
    const joining = graph.settle(names);
    if (joining.length > 0) graph.join(joining, await reader.inEdgesOf(joining));
    const turned = graph.turnedAmong(names);
    if (turned.length > 0) graph.pass(turned, await reader.outEdgesOf(turned));
  }
}
