import { isOver } from "#api/job-state.ts";
import { Fault } from "#core/fault.ts";
import { suggestion } from "#definitions/nearest-name.ts";
import type { GraphSnapshot, SnapshotEdge, SnapshotJob } from "./graph-snapshot.ts";
import { type PlannedGraph, planGraph } from "./planned-graph.ts";
import { edgeKey, noIntent } from "./predict-graph.ts";

interface Waiver {
  readonly job: string;
  readonly on: string;
  /** Takes the waiver back. */
  readonly undo: boolean;
}

/** Plans the waiver of an edge; throws a `Fault` with the reason when it cannot be waived. */
export function planWaiver(graph: GraphSnapshot, { job, on, undo }: Waiver): PlannedGraph {
  const waiting = graph.jobs.find(({ name }) => name === job);
  if (waiting === undefined) {
    const names = graph.jobs.map(({ name }) => name);
    throw new Fault("not_found", `there is no job "${job}"${suggestion(job, names)}`);
  }
  const into = graph.edges.filter((edge) => edge.job === job);
  const edge = into.find((one) => one.on === on);
  if (edge === undefined) {
    const others = into.map((one) => one.on);
    const says = others.length === 0 ? "it waits for nothing" : `it waits for ${others.join(", ")}`;
    throw new Fault("not_found", `"${job}" does not wait for "${on}": ${says}`);
  }
  assertPossible(waiting, edge, undo);
  return planGraph(graph, {
    intent: { ...noIntent, waivers: new Map([[edgeKey(edge), !undo]]) },
    roles: new Map(),
    asked: new Set(),
    times: 1,
  });
}

function assertPossible({ name, state }: SnapshotJob, edge: SnapshotEdge, undo: boolean): void {
  const refuse = (why: string) => {
    throw new Fault("failed_precondition", `${name} and ${edge.on}: ${why}`);
  };
  if (undo) {
    if (!edge.waived) refuse("this edge is not waived");
    // A server is already preparing a ready job, so it starts.
    if (state !== "blocked" && !isOver(state)) {
      refuse(
        `${name} is ${state}; a waiver can be removed before the job starts, or after its end`,
      );
    }
  } else {
    if (edge.waived) refuse("this edge is waived already");
    if (edge.status === "met") refuse(`there is nothing to waive: ${name} no longer waits for it`);
  }
}
