import { z } from "zod";
import { GraphFailures } from "./failure-of-job.ts";
import { Graph } from "./graph.ts";

/** What the page of a graph opens with, in one answer. */
export const GraphPage = z
  .object({
    graph: Graph,
    /** Null unless a job of it failed. */
    failures: GraphFailures.nullable(),
  })
  .meta({ id: "GraphPage" });
