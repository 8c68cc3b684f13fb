import { rightAt } from "#core/right.ts";
import { endpoint, json } from "../endpoint.ts";
import { GraphPriority, SetGraphPriority } from "../graph-priority.ts";
import {
  Activate,
  Clone,
  ClonedGraph,
  Customise,
  CustomisedJob,
  Deactivate,
  GraphSet,
  PlannedChange,
  Release,
  ReleasedBreakpoint,
  Retrigger,
  Waive,
} from "../rerun.ts";

/** Changes by people to jobs and edges of graphs, and to sets of graphs. A dry run returns the effect of a change. */
export const rerunEndpoints = {
  retrigger: endpoint({
    method: "POST",
    path: "/graphs/:graph/retrigger",
    right: rightAt("graph", "retrigger"),
    summary:
      "Further runs of jobs by `selection` or `jobs`. `mode` is `revive`, `alone` or `downstream`; `another` gives jobs whose run is queued or running a further run after it.",
    body: Retrigger,
    answer: json(PlannedChange),
  }),
  retriggerSet: endpoint({
    method: "POST",
    path: "/sets/:set/retrigger",
    right: rightAt("set", "retrigger"),
    summary: "The same, with a selection among all graphs of the set.",
    body: Retrigger,
    answer: json(PlannedChange),
  }),
  activate: endpoint({
    method: "POST",
    path: "/graphs/:graph/activate",
    right: rightAt("graph", "activate"),
    summary: "Activates inactive jobs, with the jobs that they need.",
    body: Activate,
    answer: json(PlannedChange),
  }),
  activateSet: endpoint({
    method: "POST",
    path: "/sets/:set/activate",
    right: rightAt("set", "activate"),
    summary: "The same, with a selection among all graphs of the set.",
    body: Activate,
    answer: json(PlannedChange),
  }),
  deactivate: endpoint({
    method: "POST",
    path: "/graphs/:graph/deactivate",
    right: rightAt("graph", "activate"),
    summary: "Sets jobs that have not started inactive.",
    body: Deactivate,
    answer: json(PlannedChange),
  }),
  deactivateSet: endpoint({
    method: "POST",
    path: "/sets/:set/deactivate",
    right: rightAt("set", "activate"),
    summary: "The same, with a selection among all graphs of the set.",
    body: Deactivate,
    answer: json(PlannedChange),
  }),
  waive: endpoint({
    method: "POST",
    path: "/graphs/:graph/waive",
    right: rightAt("graph", "waive"),
    summary: "`job` no longer waits for `on`; `undo` removes the waiver.",
    body: Waive,
    answer: json(PlannedChange),
  }),
  release: endpoint({
    method: "POST",
    path: "/graphs/:graph/release",
    right: rightAt("graph", "release"),
    summary:
      "Ends the waiting of a breakpoint. The caller must also be on the breakpoint's own list.",
    body: Release,
    answer: json(ReleasedBreakpoint),
  }),
  customise: endpoint({
    method: "POST",
    path: "/graphs/:graph/customise",
    right: rightAt("graph", "customise"),
    summary:
      "A JSON merge patch of the definition of a job; null removes it. `after` is the job's `origin.revision` that the change builds upon: 409 with the changes if there is a newer revision. Without `after`, a patch is refused if there is already one.",
    body: Customise,
    largeBody: { bytes: 1024 * 1024, verb: "customise" },
    answer: json(CustomisedJob),
  }),
  setPriority: endpoint({
    method: "POST",
    path: "/graphs/:graph/priority",
    right: rightAt("graph", "prioritise"),
    summary:
      "With `job`, that job's own priority, which is added to the graph's. This is not a customisation; a queued job moves at once. Caps reduce the priority and answer a `notice`; on a protected branch they refuse it.",
    body: SetGraphPriority,
    answer: json(GraphPriority),
  }),
  clone: endpoint({
    method: "POST",
    path: "/graphs/:graph/clone",
    right: rightAt("graph", "clone"),
    summary:
      "A new graph of the same jobs. `today` plans the same choice again: the named graph, the selection, the given parameters and switches.",
    body: Clone,
    limit: "submissions",
    answer: json(ClonedGraph),
  }),
  graphSet: endpoint({
    method: "GET",
    path: "/sets/:set",
    right: rightAt("set", "read"),
    summary:
      "The summaries of all graphs of a set. SET is its name, or a graph in it: the id, a unique prefix of it, or `latest`.",
    answer: json(GraphSet),
  }),
} as const;
