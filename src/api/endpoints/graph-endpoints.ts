import { z } from "zod";
import { rightAt, rightOnListed, rightSomewhere } from "#core/right.ts";
import { CancelledGraph } from "../cancel.ts";
import { CommitGrid, GridColumns, GridFilters } from "../commit-grid.ts";
import { createdWhenNew, endpoint, events, json } from "../endpoint.ts";
import { GraphFailures } from "../failure-of-job.ts";
import { Graph, GraphDelta, GraphSummary, Repository, SubmittedGraph } from "../graph.ts";
import { GraphPage } from "../graph-page.ts";
import { SubmitGraph } from "../submit-graph.ts";

/** Requests may bring definition files along; a large repository has many. */
export const definitionsAlong = { bytes: 48 * 1024 * 1024, verb: "submit" } as const;

const gridQuery = GridFilters.extend({
  repository: z.string(),
  columns: GridColumns.optional(),
  limit: z.coerce.number().int().min(1).max(100).default(30),
  before: z.string().optional(),
});

/** Repositories, and the graphs of their commits. */
export const graphEndpoints = {
  repositories: endpoint({
    method: "GET",
    path: "/repositories",
    right: rightOnListed("read"),
    mayLag: true,
    summary: "The one with the newest graph first.",
    answer: json(z.array(Repository)),
  }),
  graphs: endpoint({
    method: "GET",
    path: "/graphs",
    right: rightOnListed("read"),
    mayLag: true,
    summary:
      "Newest first, at most 200. `before` is the id of the last graph of the previous page. With `commit`, `repository` may be its address.",
    query: z.object({
      repository: z.string().optional(),
      commit: z.string().optional(),
      limit: z.coerce.number().int().min(1).max(200).default(50),
      before: z.string().optional(),
    }),
    answer: json(z.array(GraphSummary)),
  }),
  commitGrid: endpoint({
    method: "GET",
    path: "/commit-grid",
    right: rightOnListed("read"),
    mayLag: true,
    summary:
      "Graphs of a repository, newest first, with the states of their jobs in columns. A column is a job; or a kind (the tag `kind`, else the start of the name) if a graph of the first page has more than 40 jobs. For the next page, pass `columns` and `before` of the previous one.",
    query: gridQuery,
    answer: json(CommitGrid),
  }),
  commitGridOfPath: endpoint({
    method: "GET",
    path: "/commit-grid/changes",
    right: rightOnListed("read"),
    summary:
      "The same, only graphs whose commits change `path`, a file or a directory, compared with their first parent. The server looks at no more than 2,000 graphs and for no more than 5 s: a page may be short, or empty, although `before` is not null.",
    query: gridQuery.extend({ path: z.string().min(1).max(2_100) }),
    limit: "searches",
    answer: json(CommitGrid),
  }),
  submitGraph: endpoint({
    method: "POST",
    path: "/graphs",
    right: rightSomewhere("submit"),
    summary:
      "Plans the graph of a commit and runs it. `set` is the set that the graph joins, by its name or by a graph of it; a new name creates a set. Joining needs `submit` wherever the set has graphs.",
    body: SubmitGraph,
    largeBody: definitionsAlong,
    limit: "submissions",
    answer: createdWhenNew(SubmittedGraph),
  }),
  graph: endpoint({
    method: "GET",
    path: "/graphs/:graph",
    right: rightAt("graph", "read"),
    summary: "A graph with all its jobs and edges.",
    answer: json(Graph),
  }),
  graphPage: endpoint({
    method: "GET",
    path: "/graphs/:graph/page",
    right: rightAt("graph", "read"),
    mayLag: true,
    summary:
      "What the page of a graph opens with: the graph, and its failures if a job failed. The ends of the logs are null without the right `read-logs`.",
    answer: json(GraphPage),
  }),
  graphFailures: endpoint({
    method: "GET",
    path: "/graphs/:graph/failures",
    right: rightAt("graph", "read"),
    mayLag: true,
    summary:
      "The jobs that failed, at most 20, first those that failed by themselves: since which graph of the branch, whether the same action has also succeeded (`flaky`), and the end of the log with its error lines. `job` asks for one job. Without `read-logs`, `log` is null.",
    query: z.object({ job: z.string().max(10_000).optional() }),
    answer: json(GraphFailures),
  }),
  graphEvents: endpoint({
    method: "GET",
    path: "/graphs/:graph/events",
    right: rightAt("graph", "read"),
    summary:
      "Each change, with the graph's version as its id. Starts after `Last-Event-ID`, or after the version `since`; ends when the graph ends.",
    query: z.object({ since: z.coerce.number().int().min(0).default(0) }),
    answer: events(GraphDelta),
  }),
  cancelGraph: endpoint({
    method: "POST",
    path: "/graphs/:graph/cancel",
    right: rightAt("graph", "cancel"),
    summary:
      "Cancels all unfinished jobs. `unconfirmed` is [what may still start](graphs-of-jobs.md#what-a-cancellation-promises), as `{job, worker}`.",
    answer: json(CancelledGraph),
  }),
  events: endpoint({
    method: "GET",
    path: "/events",
    right: rightOnListed("read"),
    summary: "Each changed graph, of all repositories or of one.",
    query: z.object({ repository: z.string().optional() }),
    answer: events(GraphSummary),
  }),
} as const;
