import { z } from "zod";
import type { GraphSummary, JobSummary, Run } from "#api/graph.ts";
import { JobState } from "#api/job-state.ts";
import { durationText } from "#core/duration-text.ts";
import type { ApiClient } from "../api/api-client.ts";
import { logAddressesOfRun } from "../log-addresses.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { logOfFailure, noLog, numbered } from "./log-excerpt.ts";
import { type Tool, tool } from "./tool.ts";

export const graphArgument = z
  .string()
  .min(1)
  .max(200)
  .default("latest")
  .describe("A graph's id, a unique prefix of it, or `latest`");
const jobArgument = z.string().min(1).max(1_024).describe("The name of a job of the graph");

/** Characters of a definition. */
const longestDefinition = 8_000;

/** Graphs, jobs, and what failed. */
export const graphTools: readonly Tool[] = [
  tool({
    name: "list_graphs",
    title: "List graphs",
    description:
      "Lists graphs of jobs, the newest first: id, commit, state and counts of jobs. A graph belongs to one commit.",
    input: z.object({
      repository: z.string().optional().describe("Only graphs of this repository"),
      commit: z.string().optional().describe("Only graphs of this commit; needs `repository`"),
      limit: z.number().int().min(1).max(100).default(20),
    }),
    async run(api, query) {
      const { graphEndpoints } = await import("#api/endpoints/graph-endpoints.ts");
      const graphs = await api.call(graphEndpoints.graphs, { query });
      return { lines: graphs.map(graphLine), data: { graphs: graphs.map(shortGraph) } };
    },
  }),
  tool({
    name: "show_graph",
    title: "Show a graph",
    description:
      "Shows a graph and its jobs: failed jobs first, then running, waiting and the others. Use `state` to list jobs of one state.",
    input: z.object({
      graph: graphArgument,
      state: JobState.optional().describe("Only jobs in this state"),
      limit: z.number().int().min(1).max(500).default(100),
    }),
    async run(api, { graph: id, state, limit }) {
      const graph = await api.graph(id);
      const jobs = graph.jobList
        .filter((job) => state === undefined || job.state === state)
        .toSorted((a, b) => urgency(a) - urgency(b) || a.name.localeCompare(b.name));
      const shown = jobs.slice(0, limit);
      const more = jobs.length - shown.length;
      return {
        lines: [
          graphLine(graph),
          ...shown.map(jobLine),
          ...(more === 0 ? [] : [`… and ${more} more jobs`]),
        ],
        data: { graph: shortGraph(graph), jobs: shown.map(shortJob), moreJobs: more },
      };
    },
  }),
  tool({
    name: "show_job",
    title: "Show a job",
    description:
      "Shows a job of a graph: its definition, dependencies and runs, and why it waits if it does not run.",
    input: z.object({ graph: graphArgument, job: jobArgument }),
    async run(api, { graph: id, job: name }) {
      const { graph, job, definition, dependsOn, runList, waiting } = await api.job(id, name);
      const text = JSON.stringify(definition, undefined, 1) ?? "";
      const runs = runList.slice(0, 20);
      const needs = dependsOn.slice(0, 100).map(({ on, condition, status }) => ({
        job: on,
        condition,
        status,
      }));
      return {
        lines: [
          graphLine(graph),
          jobLine(job),
          ...(waiting === null ? [] : [`waits: ${waiting.sentence}`, waiting.advice ?? ""]),
          ...needs.map((need) => `needs ${need.job} (${need.condition}): ${need.status}`),
          ...runs.map(runLine),
          "definition:",
          text.slice(0, longestDefinition),
        ],
        data: {
          graph: shortGraph(graph),
          job: shortJob(job),
          waiting,
          needs,
          runs: runs.map(shortRun),
          definition: text.length > longestDefinition ? null : definition,
        },
      };
    },
  }),
  tool({
    name: "list_failures",
    title: "List failures of a graph",
    description:
      "Lists the failed jobs of a graph, each with its exit code, the line of the error, and the end of its log. Start here when a build is red.",
    input: z.object({
      graph: graphArgument,
      job: z.string().max(1_024).optional().describe("Only this job"),
      lines: z.number().int().min(0).max(200).default(40).describe("Lines of each log's end"),
      limit: z.number().int().min(1).max(20).default(5).describe("Failed jobs to show"),
    }),
    async run(api, { graph: id, job: only, lines, limit }) {
      const graph = await api.graph(id);
      const failed = graph.jobList.filter(
        ({ name, state }) => state === "failed" && (only === undefined || name === only),
      );
      const failures = await Promise.all(
        failed.slice(0, limit).map(({ name }) => failureOf(api, graph.id, name, lines)),
      );
      const more = failed.length - failures.length;
      return {
        lines: [
          graphLine(graph),
          failed.length === 0 ? "No job failed." : `${failed.length} jobs failed.`,
          ...failures.flatMap(failureText),
          ...(more === 0 ? [] : ["", `… and ${more} more failed jobs; ask for one with \`job\``]),
        ],
        data: { graph: shortGraph(graph), failedJobs: failed.length, failures },
      };
    },
  }),
];

type JobFailure = Awaited<ReturnType<typeof failureOf>>;

async function failureOf(api: ApiClient, graph: string, job: string, most: number) {
  const { runList } = await api.job(graph, job);
  const run = runList.find(({ state }) => state === "finished");
  if (run === undefined) {
    return { job, run: null, errorLine: null, errorLineIsGuess: false, end: [], totalLines: 0 };
  }
  const addresses = await logAddressesOfRun({ graph, job, run: run.number });
  const [found] = run.errorLines;
  // Jobs that the farm runs itself have no log.
  const log = await logOfFailure(api, addresses, most).catch(() => noLog);
  return {
    job,
    run: shortRun(run),
    errorLine: found ?? log.errorLine ?? null,
    errorLineIsGuess: found === undefined,
    end: log.lines,
    totalLines: log.totalLines,
  };
}

function failureText({ job, run, errorLine, errorLineIsGuess, end, totalLines }: JobFailure) {
  return [
    "",
    `${job}: ${run === null ? "no run ended" : `run ${run.number} ${run.outcome ?? run.state}${run.exitCode === null ? "" : `, exit ${run.exitCode}`}`}`,
    ...(run?.message ? [run.message] : []),
    ...(errorLine === null
      ? []
      : [
          `${errorLineIsGuess ? "probable error" : "error"}, line ${errorLine.line}: ${errorLine.text}`,
        ]),
    ...(end.length === 0 ? [] : [`the last ${end.length} of ${totalLines} lines:`]),
    ...end.map((each) => numbered(each, each.line === errorLine?.line ? ">" : " ")),
  ];
}

export function shortGraph(graph: GraphSummary) {
  const { id, repository, commit, rev, branch, state, jobs, counts, createdAt, finishedAt } = graph;
  const subject = printableLine(graph.subject).slice(0, 200);
  return {
    id,
    repository,
    commit,
    rev,
    branch,
    subject,
    state,
    jobs,
    counts,
    createdAt,
    finishedAt,
  };
}

export function graphLine(graph: GraphSummary): string {
  const counts = Object.entries(graph.counts).map(([state, count]) => `${count} ${state}`);
  return `${graph.id} ${graph.state}: ${graph.repository} ${graph.commit.slice(0, 12)} "${printableLine(graph.subject).slice(0, 100)}", ${graph.jobs} jobs (${counts.join(", ")})`;
}

function shortJob({ name, kind, state, cached, stale, reason, startedAt, finishedAt }: JobSummary) {
  return { name, kind, state, cached, stale, reason, startedAt, finishedAt };
}

function jobLine({ name, state, cached, reason }: JobSummary): string {
  return `${name}: ${state}${cached ? " (from the cache)" : ""}${reason === null ? "" : `, ${printableLine(reason)}`}`;
}

export function shortRun(run: Run) {
  const { number, cause, state, outcome, exitCode, executionId, actionDigest, worker } = run;
  const { startedAt, finishedAt, failureClass, cachedFrom } = run;
  const message = run.message === null ? null : printableLine(run.message).slice(0, 1_000);
  return {
    number,
    cause,
    state,
    outcome,
    exitCode,
    message,
    failureClass,
    executionId,
    actionDigest,
    cachedFrom,
    worker,
    startedAt,
    finishedAt,
  };
}

function runLine(run: Run): string {
  const took =
    run.startedAt === null || run.finishedAt === null
      ? ""
      : `, ${durationText(Date.parse(run.finishedAt) - Date.parse(run.startedAt))}`;
  const from = run.cachedFrom === null ? "" : ", from the cache";
  return `run ${run.number} (${run.cause}): ${run.outcome ?? run.state}${run.exitCode === null ? "" : `, exit ${run.exitCode}`}${took}${from}${run.executionId === null ? "" : `, execution ${run.executionId}`}`;
}

/** The states of jobs, those that a person looks for first. Others come behind them. */
const order: readonly JobState[] = ["failed", "running", "waiting", "queued", "ready", "blocked"];

function urgency({ state }: JobSummary): number {
  const place = order.indexOf(state);
  return place === -1 ? order.length : place;
}
