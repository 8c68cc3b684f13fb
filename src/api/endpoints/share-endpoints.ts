import { z } from "zod";
import { noRight, rightAt, rightOnFarm, rightSomewhere } from "#core/right.ts";
import { Comparison } from "../benchmark-comparison.ts";
import { bytes, created, endpoint, json } from "../endpoint.ts";
import { LogIndex, LogMatches, logPartQuery, logSearchQuery } from "../log.ts";
import { numberFromOne } from "../number-from-one.ts";
import { CreatedShareLink, ShareComparison, Shared, ShareLink, ShareRun } from "../share.ts";

const byToken = noRight("the token of the link, in `X-Grange-Share`, opens one object");

/** Links by which whoever has one reads one object for a limited time. */
export const shareEndpoints = {
  shareRun: endpoint({
    method: "POST",
    path: "/graphs/:graph/jobs/:job/runs/:run/shares",
    right: rightAt("graph", "share"),
    summary:
      "Creates a link to the log of the run, or with `path` to one of its outputs; also needs `read-logs` or `read` there. Only this answer contains the token. The link ends after `expiresInMs`, when it is revoked, or when its creator loses the right to read the object.",
    params: z.object({ run: numberFromOne("run") }),
    body: ShareRun,
    limit: "tokens",
    answer: created(CreatedShareLink),
  }),
  shareComparison: endpoint({
    method: "POST",
    path: "/benchmarks/compare/shares",
    right: rightOnFarm("share"),
    summary: "Creates a link to a comparison of two artifacts; also needs `read` on the farm.",
    body: ShareComparison,
    limit: "tokens",
    answer: created(CreatedShareLink),
  }),
  shareLinks: endpoint({
    method: "GET",
    path: "/shares",
    right: rightSomewhere("share", "read"),
    summary: "Your links; with the right to administer the farm, all. Never their tokens.",
    answer: json(z.array(ShareLink)),
  }),
  revokeShareLink: endpoint({
    method: "POST",
    path: "/shares/:id/revoke",
    right: rightSomewhere("share", "read"),
    summary: "Revokes a link. Links of others only for administrators of the farm.",
    answer: json(ShareLink),
  }),
  shared: endpoint({
    method: "GET",
    path: "/shared",
    right: byToken,
    summary:
      "The object of the link. The same 404 for a link that is unknown, expired or revoked, or whose creator has lost the right to read the object.",
    answer: json(Shared),
  }),
  sharedLog: endpoint({
    method: "GET",
    path: "/shared/log",
    right: byToken,
    summary: "The shared log from the offset, with the headers of the log of a run.",
    query: z.object({ offset: logPartQuery.offset, limit: logPartQuery.limit }),
    answer: bytes("text/plain"),
  }),
  sharedLogIndex: endpoint({
    method: "GET",
    path: "/shared/log/index",
    right: byToken,
    summary: "The index of the lines of the shared log, as for the log of a run.",
    limit: "searches",
    answer: json(LogIndex),
  }),
  sharedLogSearch: endpoint({
    method: "GET",
    path: "/shared/log/search",
    right: byToken,
    summary: "The matching lines of the shared log, as for the log of a run.",
    query: z.object(logSearchQuery),
    limit: "searches",
    answer: json(LogMatches),
  }),
  sharedOutput: endpoint({
    method: "GET",
    path: "/shared/output",
    right: byToken,
    summary: "The bytes of the output that the link opens, always as an attachment.",
    answer: bytes(),
  }),
  sharedComparison: endpoint({
    method: "GET",
    path: "/shared/comparison",
    right: byToken,
    summary: "The comparison that the link opens.",
    limit: "searches",
    answer: json(Comparison),
  }),
} as const;
