import { rightOnFarm } from "#core/right.ts";
import { endpoint, json } from "../endpoint.ts";
import {
  HoldGraph,
  ReleaseHold,
  Retention,
  RetentionPlace,
  SetRetentionAge,
  SetRetentionRule,
} from "../retention.ts";

/** What is kept, and for how long. */
export const retentionEndpoints = {
  retention: endpoint({
    method: "GET",
    path: "/retention",
    right: rightOnFarm("read"),
    summary:
      "How long graphs, executions, invocations, entries of the audit log, unused definitions and benchmark jobs are kept, and which graphs have labels that keep them ([what is kept](retention.md)).",
    answer: json(Retention),
  }),
  setRetentionRule: endpoint({
    method: "PUT",
    path: "/retention/rules",
    right: rightOnFarm("administer"),
    summary: "Sets how long graphs of a repository's branches are kept. Answers all rules.",
    body: SetRetentionRule,
    answer: json(Retention),
  }),
  removeRetentionRule: endpoint({
    method: "POST",
    path: "/retention/rules/remove",
    right: rightOnFarm("administer"),
    summary:
      "Removes the rule of exactly this repository and branch. Graphs without a rule are kept.",
    body: RetentionPlace,
    answer: json(Retention),
  }),
  setRetentionAge: endpoint({
    method: "PUT",
    path: "/retention/ages",
    right: rightOnFarm("administer"),
    summary:
      "Sets how long executions, invocations, entries of the audit log, unused definitions or benchmark jobs are kept.",
    body: SetRetentionAge,
    answer: json(Retention),
  }),
  holdGraph: endpoint({
    method: "POST",
    path: "/graphs/:id/holds",
    right: rightOnFarm("administer"),
    summary:
      "Gives a graph a label that keeps it, whatever the rules say, such as for a legal hold.",
    body: HoldGraph,
    answer: json(Retention),
  }),
  releaseHold: endpoint({
    method: "POST",
    path: "/graphs/:id/holds/remove",
    right: rightOnFarm("administer"),
    summary: "Removes such a label from a graph.",
    body: ReleaseHold,
    answer: json(Retention),
  }),
} as const;
