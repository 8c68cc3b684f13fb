import type { z } from "zod";
import type { Principal } from "#access/principal.ts";
import type { PlannedChange, Retrigger } from "#api/rerun.ts";
import type { GraphId } from "../graph-id.ts";
import { type ChangeServices, changeGraphs } from "./change-graphs.ts";
import { chooseJobs } from "./choose-jobs.ts";
import { leftToChildGraphs } from "./left-to-child-graphs.ts";
import { planRerun } from "./plan-rerun.ts";

/**
 * Runs jobs of a graph, or of its set, again; a dry run only returns the effect. Returns undefined when there is no
 * such graph.
 *
 * `once` names the request: a second one with the same name is refused (`aborted`).
 */
export function retrigger(
  services: ChangeServices,
  graphId: GraphId,
  request: z.output<typeof Retrigger>,
  by: Principal,
  once?: string,
): Promise<PlannedChange | undefined> {
  const { mode, onlyStale, times, another, selection, reason } = request;
  return changeGraphs(services, {
    ...request,
    graphId,
    verb: "retrigger",
    by,
    detail: { mode, onlyStale, times, another, selection, once },
    once,
    plan: (graphs) => {
      const chosen = chooseJobs(graphs, request);
      const left = leftToChildGraphs(chosen);
      return [...chosen].map(([graph, selected]) =>
        planRerun(graph, selected, {
          mode,
          onlyStale,
          times,
          another,
          leftAlone: left.get(graph),
        }),
      );
    },
    whyOf: ({ does }) => {
      const words =
        does === "runs because downstream"
          ? `depends on what ${by.name} retriggered`
          : `retriggered by ${by.name}`;
      const series = times > 1 && does === "runs" ? `; run 1 of ${times}, one after the other` : "";
      return `${words}${series}${reason === undefined ? "" : `: ${reason}`}`;
    },
  });
}
