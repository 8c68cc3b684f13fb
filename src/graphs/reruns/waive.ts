import type { z } from "zod";
import type { Principal } from "#access/principal.ts";
import type { PlannedChange, Waive } from "#api/rerun.ts";
import type { GraphId } from "../graph-id.ts";
import { type ChangeServices, changeGraphs } from "./change-graphs.ts";
import type { SnapshotEdge } from "./graph-snapshot.ts";
import { planWaiver } from "./plan-waiver.ts";
import { unwaiveEdge, waiveEdge } from "./waive.store.ts";

/**
 * Lets a job run without another one, with the name of the principal and a reason; a dry run only
 * returns the effect.
 *
 * It runs without the outputs of the other job that do not exist.
 */
export function waive(
  services: ChangeServices,
  graphId: GraphId,
  { job, on, undo, reason, dryRun, token }: z.output<typeof Waive>,
  by: Principal,
): Promise<PlannedChange | undefined> {
  let edge: SnapshotEdge | undefined;
  return changeGraphs(services, {
    graphId,
    wholeSet: false,
    verb: "waive",
    by,
    dryRun,
    token,
    reason,
    detail: { on, undo },
    plan: (graphs) =>
      graphs.map((graph) => {
        edge = graph.edges.find((one) => one.job === job && one.on === on);
        return planWaiver(graph, { job, on, undo });
      }),
    whyOf: () => "",
    before: async (tx, graph) => {
      if (edge === undefined) return [];
      if (undo) await unwaiveEdge(tx, graph.id, edge);
      else await waiveEdge(tx, graph.id, edge, { by: by.name, reason });
      return [job];
    },
  });
}
