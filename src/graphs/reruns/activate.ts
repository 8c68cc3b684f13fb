import type { z } from "zod";
import type { Principal } from "#access/principal.ts";
import type { Activate, Deactivate, PlannedChange } from "#api/rerun.ts";
import type { GraphId } from "../graph-id.ts";
import { type ChangeServices, changeGraphs } from "./change-graphs.ts";
import { chooseJobs } from "./choose-jobs.ts";
import { planActivation, planDeactivation } from "./plan-activation.ts";

/** Activates jobs that nothing has requested, with the jobs that they need; or returns what that would change. */
export function activate(
  services: ChangeServices,
  graphId: GraphId,
  request: z.output<typeof Activate>,
  by: Principal,
): Promise<PlannedChange | undefined> {
  const { downstream, selection, reason } = request;
  return changeGraphs(services, {
    ...request,
    graphId,
    verb: "activate",
    by,
    detail: { downstream, selection },
    plan: (graphs) =>
      [...chooseJobs(graphs, request)].map(([graph, selected]) =>
        planActivation(graph, selected, downstream),
      ),
    whyOf: ({ does }) => {
      const words =
        does === "runs because needed"
          ? `needed by what ${by.name} activated`
          : `activated by ${by.name}`;
      return reason === undefined ? words : `${words}: ${reason}`;
    },
  });
}

/** Sets jobs that have not started inactive; or returns what that would change. */
export function deactivate(
  services: ChangeServices,
  graphId: GraphId,
  request: z.output<typeof Deactivate>,
  by: Principal,
): Promise<PlannedChange | undefined> {
  return changeGraphs(services, {
    ...request,
    graphId,
    verb: "activate",
    by,
    detail: { deactivate: true, selection: request.selection },
    plan: (graphs) =>
      [...chooseJobs(graphs, request)].map(([graph, selected]) =>
        planDeactivation(graph, selected),
      ),
    whyOf: () => "",
  });
}
