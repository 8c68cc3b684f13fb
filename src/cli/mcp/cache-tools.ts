import { z } from "zod";
import type { Graph, Run } from "#api/graph.ts";
import { Fault } from "#core/fault.ts";
import type { ApiClient } from "../api/api-client.ts";
import { commandLine } from "../compared-lines.ts";
import { graphArgument, shortRun } from "./graph-tools.ts";
import { type Tool, tool } from "./tool.ts";

/** Earlier graphs of the repository in which the job is searched. */
const mostEarlierGraphs = 20;

/** Why results were not found in the cache. */
export const cacheTools: readonly Tool[] = [
  tool({
    name: "explain_cache_miss",
    title: "Explain a cache miss",
    description:
      "Explains why a job was executed instead of taken from the cache: compares its action with that of its last execution before, or two executions with each other, and names changed arguments, variables, platform properties and input files.",
    input: z.object({
      graph: graphArgument,
      job: z.string().max(1_024).optional().describe("The job of the graph"),
      execution: z.uuid().optional().describe("Instead of a job: the execution to explain"),
      before: z.uuid().optional().describe("The earlier execution; needed with `execution`"),
      limit: z.number().int().min(1).max(500).default(50).describe("Input files to name"),
    }),
    async run(api, { graph, job, execution, before, limit }) {
      if (execution !== undefined && before !== undefined) {
        return explained(api, before, execution, limit, undefined);
      }
      if (job === undefined || execution !== undefined) {
        throw new Fault(
          "invalid_argument",
          "say what to explain: `job` with `graph`, or `execution` with `before`",
        );
      }
      return explainJob(api, graph, job, limit);
    },
  }),
  tool({
    name: "list_cache_misses",
    title: "List cache misses of a local build",
    description:
      "Lists builds that ran with a granary (`grange exec`), or with `build` the results that one of them did not find, each with the reason: not made before, not indexed, too large, farm not available.",
    input: z.object({
      build: z.uuid().optional().describe("The build's id"),
      project: z.string().max(200).default("default"),
      limit: z.number().int().min(1).max(200).default(50),
    }),
    async run(api, { build, project, limit }) {
      if (build === undefined) {
        const { granaryEndpoints } = await import("#api/endpoints/granary-endpoints.ts");
        const { builds } = await api.call(granaryEndpoints.granaryBuilds, {
          query: { project, limit },
        });
        const short = builds.map(({ id, command, commit, machine, endedAt, counts }) => ({
          id,
          command,
          commit,
          machine,
          endedAt,
          counts,
        }));
        return {
          lines: [
            `${short.length} builds:`,
            ...short.map(
              ({ id, command, counts }) =>
                `${id} ${command.slice(0, 100)}: ${counts.missed} missed, ${counts.unreachable} without the farm`,
            ),
          ],
          data: { builds: short },
        };
      }
      const { granaryEndpoints } = await import("#api/endpoints/granary-endpoints.ts");
      const report = await api.call(granaryEndpoints.granaryBuild, { params: { build } });
      const missed = report.asked.filter(({ because }) => because !== null).slice(0, limit);
      return {
        lines: [
          `${report.command}: ${JSON.stringify(report.counts)}`,
          ...missed.map(
            ({ namespace, key, because, source }) =>
              `${namespace} ${key.slice(0, 100)}: ${because} (${source})`,
          ),
        ],
        data: { counts: report.counts, misses: missed, indexes: report.indexes },
      };
    },
  }),
];

async function explainJob(api: ApiClient, id: string, job: string, limit: number) {
  const detail = await api.job(id, job);
  const run = detail.runList.find(({ servedBy }) => servedBy === "execution");
  if (run === undefined) throw new Fault("not_found", `${job} has no run on a worker`);
  if (run.executionId === null) {
    const from = run.cachedFrom;
    return {
      lines: [
        run.state === "finished"
          ? `It was no miss: run ${run.number} was taken from the cache${from === null ? "" : `, as ${from.job ?? "a build"} of graph ${from.graphId ?? "unknown"} made it at ${from.at}`}.`
          : `Run ${run.number} is ${run.state}; it has no execution yet.`,
      ],
      data: { hit: run.state === "finished", run: shortRun(run) },
    };
  }
  const earlier = await earlierExecution(api, detail.graph, job, detail.runList, run);
  if (earlier === undefined) {
    return {
      lines: [
        `No earlier execution of ${job} is known in the last ${mostEarlierGraphs} graphs of this repository, so there was no result to take.`,
      ],
      data: { hit: false, run: shortRun(run), before: null },
    };
  }
  return explained(api, earlier, run.executionId, limit, run);
}

/** Finds the last execution of the job before a run: in its own graph, then in earlier graphs of the repository. */
async function earlierExecution(
  api: ApiClient,
  graph: Pick<Graph, "id" | "repository">,
  job: string,
  runs: readonly Run[],
  run: Run,
): Promise<string | undefined> {
  const own = runs.find(({ number, executionId }) => number < run.number && executionId !== null);
  if (own?.executionId) return own.executionId;
  const { graphEndpoints } = await import("#api/endpoints/graph-endpoints.ts");
  const graphs = await api.call(graphEndpoints.graphs, {
    query: { repository: graph.repository, before: graph.id, limit: mostEarlierGraphs },
  });
  for (const { id } of graphs) {
    const found = await api.job(id, job).catch((reason: unknown) => {
      if (reason instanceof Fault && reason.code === "not_found") return undefined;
      throw reason;
    });
    const execution = found?.runList.find(({ executionId }) => executionId !== null);
    if (execution?.executionId) return execution.executionId;
  }
  return undefined;
}

async function explained(
  api: ApiClient,
  beforeId: string,
  afterId: string,
  limit: number,
  run: Run | undefined,
) {
  const { executionEndpoints } = await import("#api/endpoints/execution-endpoints.ts");
  const { after, before, differences } = await api.call(executionEndpoints.executionComparison, {
    params: { execution: afterId },
    query: { with: beforeId },
  });
  if (before === null || differences === null)
    throw new Fault("not_found", `execution ${beforeId} cannot be compared`);
  const { command, isCut, isSameAction, unreadable } = differences;
  const inputs = differences.inputs.slice(0, limit);
  const isShort = isCut || inputs.length < differences.inputs.length;
  return {
    lines: [
      `compared with execution ${beforeId} (${before.outcome ?? "not ended"})`,
      ...(isSameAction ? [sameAction(before.outcome, run)] : []),
      ...command.map(commandLine),
      ...inputs.map(({ path, change }) => `input ${path}: ${change}`),
      ...(isShort ? ["… and there may be more differences"] : []),
      ...(unreadable === null ? [] : [unreadable]),
    ],
    data: {
      hit: false,
      before: beforeId,
      after: after.executionId ?? afterId,
      sameAction: isSameAction,
      differences: command,
      inputs: { differences: inputs, isCut: isShort },
    },
  };
}

/** Says why the same action was executed again. */
function sameAction(outcome: string | null, run: Run | undefined): string {
  if (run !== undefined && run.cause !== "first") {
    return `It is the same action: it ran again because of a request or a retry (${run.cause}).`;
  }
  if (outcome !== "succeeded") {
    return "It is the same action, and the earlier execution failed: results of failures are not kept.";
  }
  return "It is the same action: its result was no longer in the cache, it may not be cached, or it belongs to another trust domain.";
}
