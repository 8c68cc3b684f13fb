import { z } from "zod";
import { rightAt, rightOnListed } from "#core/right.ts";
import { BuildTiming } from "../build-timing.ts";
import { CancelledInvocation } from "../cancel.ts";
import { bytes, endpoint, events, json } from "../endpoint.ts";
import {
  InvocationActionState,
  InvocationActions,
  InvocationDetail,
  InvocationList,
} from "../invocation.ts";
import { InvocationMisses } from "../invocation-misses.ts";
import {
  InvocationTargets,
  TargetHistory,
  TargetState,
  TestAttempts,
} from "../invocation-targets.ts";
import {
  LogEvent,
  LogIndex,
  LogMatches,
  logPartQuery,
  logPositionQuery,
  logSearchQuery,
} from "../log.ts";
import { ChromeTrace } from "../trace-events.ts";

/** A tool's own id names an invocation within its project. */
const project = z.string().default("default");
const label = z.string().min(1).max(1_000);

/** Invocations of build tools. */
export const invocationEndpoints = {
  invocations: endpoint({
    method: "GET",
    path: "/invocations",
    right: rightOnListed("read"),
    mayLag: true,
    summary:
      "Invocations of build tools, newest first, at most 200, each with its counts; `next` for the next page. Tools without build events do not report their end: their `state` is `over` a minute after the last request. `silent` means that the events stopped before the end.",
    query: z.object({
      project: z.string().optional(),
      commit: z.string().optional(),
      before: z.string().optional(),
      limit: z.coerce.number().int().min(1).max(200).default(50),
    }),
    answer: json(InvocationList),
  }),
  invocation: endpoint({
    method: "GET",
    path: "/invocations/:invocation",
    right: rightAt("project", "read"),
    mayLag: true,
    summary: "With the information from its build events, and a sentence about what it waits for.",
    query: z.object({ project }),
    answer: json(InvocationDetail),
  }),
  invocationActions: endpoint({
    method: "GET",
    path: "/invocations/:invocation/actions",
    right: rightAt("project", "read"),
    mayLag: true,
    summary:
      "Its actions in the order of the requests, at most 1,000; `text` is a part of the target or the mnemonic; `hits=folded` omits actions that the cache answered. An execution that was requested twice is listed once.",
    query: z.object({
      project,
      state: InvocationActionState.optional(),
      hits: z.enum(["shown", "folded"]).default("shown"),
      text: z.string().max(1_000).optional(),
      after: z.string().optional(),
      limit: z.coerce.number().int().min(1).max(1_000).default(200),
    }),
    answer: json(InvocationActions),
  }),
  invocationTiming: endpoint({
    method: "GET",
    path: "/invocations/:invocation/timing",
    right: rightAt("project", "read"),
    mayLag: true,
    summary:
      "How its actions spent their time: by mnemonic, by worker, and the longest chain. The farm does not know which action needs which: a step of the chain is the action that ended last before the next one was requested. Of more than 20,000 actions the first are counted (`isCut`).",
    query: z.object({ project }),
    limit: "searches",
    answer: json(BuildTiming),
  }),
  invocationTrace: endpoint({
    method: "GET",
    path: "/invocations/:invocation/trace",
    right: rightAt("project", "read"),
    mayLag: true,
    summary:
      "The same actions as a trace in Chrome's format, for chrome://tracing or ui.perfetto.dev: a row for each slot of a worker, and the time that actions waited.",
    query: z.object({ project }),
    limit: "searches",
    answer: json(ChromeTrace),
  }),
  invocationMisses: endpoint({
    method: "GET",
    path: "/invocations/:invocation/misses",
    right: rightAt("project", "read"),
    summary:
      "How many of its actions were in the cache; and of those that were executed, at most 50, why they were not: what differs from the last action that made the same outputs for the same target. `next` to go on.",
    query: z.object({
      project,
      after: z.string().optional(),
      limit: z.coerce.number().int().min(1).max(50).default(20),
    }),
    limit: "searches",
    answer: json(InvocationMisses),
  }),
  invocationTargets: endpoint({
    method: "GET",
    path: "/invocations/:invocation/targets",
    right: rightAt("project", "read"),
    mayLag: true,
    summary:
      "Its targets with their states, the worst first: those of its build events, and those that its actions name; each with its states in at most 10 earlier builds of the project, those of the same command first. `text` is a part of the label or the kind.",
    query: z.object({
      project,
      state: TargetState.optional(),
      text: z.string().max(1_000).optional(),
      after: z.string().optional(),
      limit: z.coerce.number().int().min(1).max(500).default(200),
    }),
    limit: "searches",
    answer: json(InvocationTargets),
  }),
  invocationTests: endpoint({
    method: "GET",
    path: "/invocations/:invocation/tests",
    right: rightAt("project", "read"),
    mayLag: true,
    summary:
      "The attempts of a test by its actions (mnemonic `TestRunner`): run and shard by the variables of the command (`TEST_RUN_NUMBER`, `TEST_SHARD_INDEX`, `TEST_TOTAL_SHARDS`), attempts by the order of the requests. At most 500 actions are read.",
    query: z.object({ project, label }),
    limit: "searches",
    answer: json(TestAttempts),
  }),
  targetHistory: endpoint({
    method: "GET",
    path: "/target-history",
    right: rightAt("project", "read"),
    mayLag: true,
    summary:
      "How a target went in the newest builds of a project, at most 100, the newest first: by build events, and by the actions that name the target.",
    query: z.object({
      project,
      label,
      limit: z.coerce.number().int().min(1).max(100).default(30),
    }),
    limit: "searches",
    answer: json(TargetHistory),
  }),
  invocationLog: endpoint({
    method: "GET",
    path: "/invocations/:invocation/log",
    right: rightAt("project", "read-logs"),
    summary:
      "The output of the tool, as far as its build events contain it, in the same way as the log of a run.",
    query: z.object({ project, ...logPartQuery }),
    answer: bytes("text/plain"),
  }),
  invocationLogIndex: endpoint({
    method: "GET",
    path: "/invocations/:invocation/log/index",
    right: rightAt("project", "read-logs"),
    summary: "The index of its lines, as for the log of a run.",
    query: z.object({ project }),
    limit: "searches",
    answer: json(LogIndex),
  }),
  invocationLogSearch: endpoint({
    method: "GET",
    path: "/invocations/:invocation/log/search",
    right: rightAt("project", "read-logs"),
    summary: "Its lines that match, as for the log of a run.",
    query: z.object({ project, ...logSearchQuery }),
    limit: "searches",
    answer: json(LogMatches),
  }),
  invocationLogEvents: endpoint({
    method: "GET",
    path: "/invocations/:invocation/log/events",
    right: rightAt("project", "read-logs"),
    summary: "The same as a stream of events, as for the log of a run.",
    query: z.object({ project, ...logPositionQuery }),
    answer: events(LogEvent),
  }),
  cancelInvocation: endpoint({
    method: "POST",
    path: "/invocations/:invocation/cancel",
    right: rightAt("project", "cancel"),
    summary:
      "Cancels its actions, unless other invocations also wait for them; later requests of it are refused. `unconfirmed` are executions that may still start. Needs the right on the project.",
    query: z.object({ project }),
    answer: json(CancelledInvocation),
  }),
} as const;
