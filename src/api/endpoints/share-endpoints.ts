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
      "Makes a link to the log of the run, or with `path` to one of its outputs; needs `read-logs` or `read` there, too. The only answer that ever holds the token. The link ends after `expiresInMs`, when it is revoked, and when its maker may not read the object any more.",
    params: z.object({ run: numberFromOne("run") }),
    body: ShareRun,
    limit: "tokens",
    answer: created(CreatedShareLink),
  }),
  shareComparison: endpoint({
    method: "POST",
    path: "/benchmarks/compare/shares",
    right: rightOnFarm("share"),
    summary: "Makes a link to a comparison of two artifacts; needs `read` on the farm, too.",
    body: ShareComparison,
    limit: "tokens",
    answer: created(CreatedShareLink),
  }),
  shareLinks: endpoint({
    method: "GET",
    path: "/shares",
    right: rightSomewhere("share", "read"),
    summary: "The links that you made; all links for who administers the farm. Never their tokens.",
    answer: json(z.array(ShareLink)),
  }),
  revokeShareLink: endpoint({
    method: "POST",
    path: "/shares/:id/revoke",
    right: rightSomewhere("share", "read"),
    summary: "Ends a link at once. Links of others only for who administers the farm.",
    answer: json(ShareLink),
  }),
  shared: endpoint({
    method: "GET",
    path: "/shared",
    right: byToken,
    summary:
      "What the link opens. 404, in the same words, for a link that is unknown, over, or revoked, and when its maker may not read the object any more.",
    answer: json(Shared),
  }),
  sharedLog: endpoint({
    method: "GET",
    path: "/shared/log",
    right: byToken,
    summary: "The log that the link opens, from the offset, with the headers of a run's log.",
    query: z.object({ offset: logPartQuery.offset, limit: logPartQuery.limit }),
    answer: bytes("text/plain"),
  }),
  sharedLogIndex: endpoint({
    method: "GET",
    path: "/shared/log/index",
    right: byToken,
    summary: "Where the lines of the log that the link opens are, as for a run's log.",
    limit: "searches",
    answer: json(LogIndex),
  }),
  sharedLogSearch: endpoint({
    method: "GET",
    path: "/shared/log/search",
    right: byToken,
    summary: "Which lines of the log that the link opens match, as for a run's log.",
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
