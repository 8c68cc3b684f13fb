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
  /** What had made it unreachable is gone: its run, when it comes, is a revival. */
  readonly isRevived: boolean;
  /** Of a join whose edges were all met, why it ran: this was its run, and it is over. */
  readonly joinedBecause: RunCause | null;
}

export interface Advance {
  readonly jobs: readonly AdvancedJob[];
  readonly edges: readonly AdvancingEdge[];
}

/**
 * Carries what happened to some jobs through the graph, to the last job that it concerns.
 *
 * Runs from low depth to high: when a job is looked at, all that it waits for has become what it
 * will be, so that each job is decided once. The work is in proportion to the edges
 * that are touched, not to the graph.
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
