import { z } from "zod";
import { rightAt, rightOnListed } from "#core/right.ts";
import { CancelledInvocation } from "../cancel.ts";
import { bytes, endpoint, events, json } from "../endpoint.ts";
import {
  InvocationActionState,
  InvocationActions,
  InvocationDetail,
  InvocationList,
} from "../invocation.ts";
import {
  LogEvent,
  LogIndex,
  LogMatches,
  logPartQuery,
  logPositionQuery,
  logSearchQuery,
} from "../log.ts";

/** A tool's own id names an invocation within its project. */
const project = z.string().default("default");

/** Invocations of build tools. */
export const invocationEndpoints = {
  invocations: endpoint({
    method: "GET",
    path: "/invocations",
    right: rightOnListed("read"),
    summary:
      "Invocations of build tools, newest first, at most 200, each with its counts; `next` to go on. Tools without build events do not say how they ended: their `state` is `over` a minute after they last asked, and `silent` is one whose events broke off.",
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
    summary: "With what its build events told, and one sentence on what it waits for.",
    query: z.object({ project }),
    answer: json(InvocationDetail),
  }),
  invocationActions: endpoint({
    method: "GET",
    path: "/invocations/:invocation/actions",
    right: rightAt("project", "read"),
    summary:
      "Its actions in the order in which they were asked for, at most 1,000; `text` is a part of the target or the mnemonic. An execution that was asked for twice is one line.",
    query: z.object({
      project,
      state: InvocationActionState.optional(),
      text: z.string().max(1_000).optional(),
      after: z.string().optional(),
      limit: z.coerce.number().int().min(1).max(1_000).default(200),
    }),
    answer: json(InvocationActions),
  }),
  invocationLog: endpoint({
    method: "GET",
    path: "/invocations/:invocation/log",
    right: rightAt("project", "read-logs"),
    summary: "What the tool printed, as far as its build events told; read as a run's log is.",
    query: z.object({ project, ...logPartQuery }),
    answer: bytes("text/plain"),
  }),
  invocationLogIndex: endpoint({
    method: "GET",
    path: "/invocations/:invocation/log/index",
    right: rightAt("project", "read-logs"),
    summary: "Where its lines are, as for a run's log.",
    query: z.object({ project }),
    limit: "searches",
    answer: json(LogIndex),
  }),
  invocationLogSearch: endpoint({
    method: "GET",
    path: "/invocations/:invocation/log/search",
    right: rightAt("project", "read-logs"),
    summary: "Which of its lines match, as for a run's log.",
    query: z.object({ project, ...logSearchQuery }),
    limit: "searches",
    answer: json(LogMatches),
  }),
  invocationLogEvents: endpoint({
    method: "GET",
    path: "/invocations/:invocation/log/events",
    right: rightAt("project", "read-logs"),
    summary: "The same, followed as a run's log is.",
    query: z.object({ project, ...logPositionQuery }),
    answer: events(LogEvent),
  }),
  cancelInvocation: endpoint({
    method: "POST",
    path: "/invocations/:invocation/cancel",
    right: rightAt("project", "cancel"),
    summary:
      "Cancels what it waits for, unless others wait for it, too; what it asks for later is refused. `unconfirmed` are executions that may still start. Needs the right on the project.",
    query: z.object({ project }),
    answer: json(CancelledInvocation),
  }),
} as const;
