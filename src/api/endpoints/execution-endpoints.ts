import { z } from "zod";
import { rightAt } from "#core/right.ts";
import { ActionComparison } from "../action-comparison.ts";
import { bytes, endpoint, events, json } from "../endpoint.ts";
import { ExecutionDetail } from "../execution.ts";
import { ExecutionFailure } from "../execution-failure.ts";
import {
  LogEvent,
  LogIndex,
  LogMatches,
  logPartQuery,
  logPositionQuery,
  logSearchQuery,
} from "../log.ts";
import { TreeListing } from "../tree-listing.ts";

/** While it runs, a worker that does not separate them sends one combined stream. */
const stream = z.enum(["stdout", "stderr"]).default("stdout");

/** Executions of all clients, and blobs. */
export const executionEndpoints = {
  execution: endpoint({
    method: "GET",
    path: "/executions/:execution",
    right: rightAt("execution", "read"),
    summary:
      "Command, times, attempts, the first 2,000 outputs and the number of others, and who requested it; `waiting` is a `WaitingReason` until it starts. 404 after retention has deleted it.",
    answer: json(ExecutionDetail),
  }),
  executionFailure: endpoint({
    method: "GET",
    path: "/executions/:execution/failure",
    right: rightAt("execution", "read"),
    summary:
      "Why it failed: since which execution of the same job or target, whether the same action has also succeeded (`flaky`), and the end of its output with the error lines. `failure` is null when it did not fail; without `read-logs`, `log` is null.",
    answer: json(ExecutionFailure),
  }),
  executionComparison: endpoint({
    method: "GET",
    path: "/executions/:execution/comparison",
    right: rightAt("execution", "read"),
    summary:
      "How its action differs from that of another execution of its project: arguments, variables, platform, and input files by path, at most 200 of each. `with` is the other execution's id; without it, the last one that succeeded is taken, of the same job on its branch or of the same target and outputs. `before` is null when there is none.",
    query: z.object({ with: z.string().optional() }),
    limit: "searches",
    answer: json(ActionComparison),
  }),
  executionLog: endpoint({
    method: "GET",
    path: "/executions/:execution/log",
    right: rightAt("execution", "read-logs"),
    summary:
      "Its `stdout` (default) or `stderr`, in the same way as the log of a run. A separate `stderr` is available only after the end.",
    query: z.object({ stream, ...logPartQuery }),
    answer: bytes("text/plain"),
  }),
  executionLogIndex: endpoint({
    method: "GET",
    path: "/executions/:execution/log/index",
    right: rightAt("execution", "read-logs"),
    summary: "The index of its lines, as for the log of a run.",
    query: z.object({ stream }),
    limit: "searches",
    answer: json(LogIndex),
  }),
  executionLogSearch: endpoint({
    method: "GET",
    path: "/executions/:execution/log/search",
    right: rightAt("execution", "read-logs"),
    summary: "Its lines that match, as for the log of a run.",
    query: z.object({ stream, ...logSearchQuery }),
    limit: "searches",
    answer: json(LogMatches),
  }),
  executionLogEvents: endpoint({
    method: "GET",
    path: "/executions/:execution/log/events",
    right: rightAt("execution", "read-logs"),
    summary: "The same as a stream of events, as for the log of a run.",
    query: z.object({ stream, ...logPositionQuery }),
    answer: events(LogEvent),
  }),
  blob: endpoint({
    method: "GET",
    path: "/blobs/:hash/:size",
    right: rightAt("project", "read"),
    summary:
      "The bytes of a blob of a project (`default` unless given), always as an attachment, called `name`; `as=text` answers UTF-8 text of up to 1 MiB as plain text, and 409 for anything else.",
    query: z.object({
      project: z.string().default(""),
      name: z.string().optional(),
      as: z.literal("text").optional(),
    }),
    answer: bytes(),
  }),
  blobTree: endpoint({
    method: "GET",
    path: "/blobs/:hash/:size/tree",
    right: rightAt("project", "read"),
    summary: "The first 2,000 entries of the output directory with this Tree.",
    query: z.object({ project: z.string().default("") }),
    answer: json(TreeListing),
  }),
} as const;
