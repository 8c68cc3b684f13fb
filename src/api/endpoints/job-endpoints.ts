import { z } from "zod";
import { rightAt, rightOnListed, rightSomewhere } from "#core/right.ts";
import { CancelledJob } from "../cancel.ts";
import { bytes, endpoint, events, json } from "../endpoint.ts";
import { JobDetail } from "../graph.ts";
import { JobPage } from "../job-page.ts";
import { JobTrends, TrendsBy } from "../job-trends.ts";
import { JsonDocument } from "../json-document.ts";
import {
  LogEvent,
  LogIndex,
  LogMatches,
  logPartQuery,
  logPositionQuery,
  logSearchQuery,
} from "../log.ts";
import { RunManifest } from "../manifest.ts";
import { numberFromOne } from "../number-from-one.ts";
import { ReportedRun, ReportRun } from "../report.ts";
import { JobWaiting } from "../waiting.ts";

const run = z.object({ run: numberFromOne("run") });

const batch = numberFromOne("batch").optional();
const RunLogQuery = z.object({ ...logPositionQuery, batch });

/** Jobs of graphs, and their runs. */
export const jobEndpoints = {
  jobTrends: endpoint({
    method: "GET",
    path: "/job-trends",
    right: rightOnListed("read"),
    mayLag: true,
    summary:
      "Failures and median durations of the jobs of a repository, for each of the `last` weeks or graphs: executed runs only, without results from the cache. `text` is a part of the names of jobs. At most 50 jobs, and the newest 1,000 graphs and 200,000 runs.",
    query: z.object({
      repository: z.string(),
      by: TrendsBy.default("week"),
      last: z.coerce.number().int().min(2).max(100).default(12),
      branch: z.string().max(300).optional(),
      text: z.string().max(200).default(""),
    }),
    limit: "searches",
    answer: json(JobTrends),
  }),
  job: endpoint({
    method: "GET",
    path: "/graphs/:graph/jobs/:job",
    right: rightAt("graph", "read"),
    summary:
      "A job with its runs; by its kind with `chunks` (items, done, failed, batches), `notifications`, `madeGraphs`.",
    answer: json(JobDetail),
  }),
  jobPage: endpoint({
    method: "GET",
    path: "/graphs/:graph/jobs/:job/page",
    right: rightAt("graph", "read"),
    summary:
      "What the page of a job opens with: the job, the states of its neighbours, and why it failed, as the failures of its graph say it. The end of the log is null without the right `read-logs`.",
    answer: json(JobPage),
  }),
  jobWaiting: endpoint({
    method: "GET",
    path: "/graphs/:graph/jobs/:job/waiting",
    right: rightAt("graph", "read"),
    summary:
      "Why the job does not run: a reason of one `kind` (`dependency`, `person`, `time`, `outside`, `preparing`, `capacity-none`, `capacity-size`, `capacity-busy`, `limit`, `priority`, `starting`) with its `sentence` and `advice`; null if it runs or has ended. `JobDetail` also contains it.",
    answer: json(JobWaiting),
  }),
  cancelJob: endpoint({
    method: "POST",
    path: "/graphs/:graph/jobs/:job/cancel",
    right: rightAt("graph", "cancel"),
    summary: "`unconfirmed` is what may still start, as for a graph.",
    answer: json(CancelledJob),
  }),
  reportRun: endpoint({
    method: "POST",
    path: "/graphs/:graph/jobs/:job/report",
    right: rightAt("graph", "report"),
    summary:
      "The report of another machine about a run of a job with `outside: true`; a second report with the same `id` changes nothing.",
    body: ReportRun,
    largeBody: { bytes: 8 * 1024 * 1024, verb: "report" },
    answer: json(ReportedRun),
  }),
  runLog: endpoint({
    method: "GET",
    path: "/graphs/:graph/jobs/:job/runs/:run/log",
    right: rightAt("graph", "read-logs"),
    summary:
      "The log from the offset, in bytes; with `batch`, that of a batch of a chunked job. At most `limit` bytes, and 4 MiB: `X-Next-Offset` is the offset of the next part, `X-Log-Complete` (`true`, `false`) tells whether the log is complete, `X-Log-Attempt` is the number of the attempt.",
    params: run,
    query: z.object({ ...logPartQuery, batch }),
    answer: bytes("text/plain"),
  }),
  runLogIndex: endpoint({
    method: "GET",
    path: "/graphs/:graph/jobs/:job/runs/:run/log/index",
    right: rightAt("graph", "read-logs"),
    summary:
      "How many lines the log has so far, and for each block of about 128 KiB the lines before it and its offset in bytes: with `offset` and `limit` of the log, a reader gets any line. `notes` are the lines in which the farm reports omitted parts.",
    params: run,
    query: z.object({ batch }),
    limit: "searches",
    answer: json(LogIndex),
  }),
  runLogSearch: endpoint({
    method: "GET",
    path: "/graphs/:graph/jobs/:job/runs/:run/log/search",
    right: rightAt("graph", "read-logs"),
    summary:
      "The numbers of the lines, from line `from` on, that contain `text` (case and colours are ignored), or with `errors=true` the lines that report an error by the general rule. At most `most`, and 10,000: `next` is the line for the next call. The log may still grow.",
    params: run,
    query: z.object({ ...logSearchQuery, batch }),
    limit: "searches",
    answer: json(LogMatches),
  }),
  runLogEvents: endpoint({
    method: "GET",
    path: "/graphs/:graph/jobs/:job/runs/:run/log/events",
    right: rightAt("graph", "read-logs"),
    summary:
      "`log` with `{offset, text}`, `restart` with `{attempt}` when another attempt has started a new log, `end`. Ids are `ATTEMPT:OFFSET`; starts after `Last-Event-ID`, or at `attempt` and `offset`.",
    params: run,
    query: RunLogQuery,
    answer: events(LogEvent),
  }),
  runOutput: endpoint({
    method: "GET",
    path: "/graphs/:graph/jobs/:job/runs/:run/outputs/:path{.+}",
    right: rightAt("graph", "read"),
    summary: "The bytes of an output, always as an attachment.",
    params: run,
    answer: bytes(),
  }),
  runManifest: endpoint({
    method: "GET",
    path: "/graphs/:graph/jobs/:job/runs/:run/manifest",
    right: rightAt("graph", "read"),
    summary: "A finished run in one text, with `extra` from its output `manifest.json`.",
    params: run,
    answer: json(RunManifest),
  }),
  runManifestSchema: endpoint({
    method: "GET",
    path: "/schema/run-manifest.json",
    right: rightSomewhere("read"),
    summary: "The JSON Schema of `RunManifest`.",
    answer: json(JsonDocument),
  }),
} as const;
