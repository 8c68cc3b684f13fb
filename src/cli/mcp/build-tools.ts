import { z } from "zod";
import type { InvocationSummary } from "#api/invocation.ts";
import type { ApiClient } from "../api/api-client.ts";
import { logAddressesOfExecution } from "../log-addresses.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { logOfFailure, noLog, numbered } from "./log-excerpt.ts";
import { type Tool, tool } from "./tool.ts";

const project = z.string().max(200).default("default");

/** Runs of build tools, and what failed in them. */
export const buildTools: readonly Tool[] = [
  tool({
    name: "list_builds",
    title: "List builds",
    description:
      "Lists invocations of build tools (Bazel, Buck2, CMake with recc, …), the newest first, each with counts of cache hits, executions and failures.",
    input: z.object({
      project: z.string().max(200).optional(),
      commit: z.string().optional(),
      limit: z.number().int().min(1).max(100).default(20),
    }),
    async run(api, query) {
      const { invocationEndpoints } = await import("#api/endpoints/invocation-endpoints.ts");
      const { invocations } = await api.call(invocationEndpoints.invocations, { query });
      return { lines: invocations.map(buildLine), data: { builds: invocations } };
    },
  }),
  tool({
    name: "list_build_failures",
    title: "List failures of a build",
    description:
      "Lists the failed actions of an invocation of a build tool: target, mnemonic, command, exit code, and the end of what each wrote to stderr.",
    input: z.object({
      invocation: z.string().min(1).max(200).describe("The invocation's id, from `list_builds`"),
      project,
      lines: z.number().int().min(0).max(200).default(40),
      limit: z.number().int().min(1).max(20).default(5),
    }),
    async run(api, { invocation, project: name, lines, limit }) {
      const { invocationEndpoints } = await import("#api/endpoints/invocation-endpoints.ts");
      const { actions, next } = await api.call(invocationEndpoints.invocationActions, {
        params: { invocation },
        query: { project: name, state: "failed", limit },
      });
      const failures = await Promise.all(
        actions.map(async ({ target, mnemonic, executionId, exitCode, outcome }) => ({
          target,
          mnemonic,
          executionId,
          exitCode,
          outcome,
          ...(executionId === null ? {} : await whatWentWrong(api, executionId, lines)),
        })),
      );
      return {
        lines: [
          failures.length === 0 ? "No action failed." : `${failures.length} failed actions:`,
          ...failures.flatMap((failure) => [
            "",
            `${failure.mnemonic} ${failure.target}: ${failure.outcome ?? "failed"}${failure.exitCode === null ? "" : `, exit ${failure.exitCode}`}, execution ${failure.executionId ?? "none"}`,
            ...(failure.command === undefined ? [] : [`command: ${failure.command}`]),
            ...(failure.message ? [failure.message] : []),
            ...(failure.end ?? []).map((each) =>
              numbered(each, each.line === failure.errorLine?.line ? ">" : " "),
            ),
          ]),
          ...(next === null ? [] : ["", "There are more; raise `limit`."]),
        ],
        data: { failures, hasMore: next !== null },
      };
    },
  }),
];

/** Reads stderr, or stdout where a worker did not separate them. */
async function whatWentWrong(api: ApiClient, execution: string, most: number) {
  const { executionEndpoints } = await import("#api/endpoints/execution-endpoints.ts");
  const detail = await api.call(executionEndpoints.execution, { params: { execution } });
  const read = async (stream: "stdout" | "stderr") =>
    logOfFailure(api, await logAddressesOfExecution(execution, stream), most).catch(() => noLog);
  const stderr = await read("stderr");
  const log = stderr.totalLines > 0 ? stderr : await read("stdout");
  return {
    command: detail.command?.arguments.join(" ").slice(0, 2_000),
    message: printableLine(detail.message),
    errorLine: log.errorLine ?? null,
    end: log.lines,
  };
}

function buildLine({ id, state, tool: { name }, counts, build, startedAt }: InvocationSummary) {
  const what = build === null ? name : `${name} ${build.command} ${build.patterns.join(" ")}`;
  return printableLine(
    `${id} ${state}: ${what.slice(0, 200)}, ${counts.hits} hits, ${counts.succeeded} executed, ${counts.failed} failed, started ${startedAt}`,
  );
}
