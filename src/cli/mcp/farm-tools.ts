import { z } from "zod";
import type { CaseComparison } from "#api/benchmark-comparison.ts";
import type { AttentionItem } from "#api/overview.ts";
import type { Worker } from "#api/worker.ts";
import { Fault } from "#core/fault.ts";
import type { ApiClient } from "../api/api-client.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { graphLine, shortGraph } from "./graph-tools.ts";
import { type Tool, tool } from "./tool.ts";

/** The farm as a whole: its queue, its workers, and comparisons of benchmarks. */
export const farmTools: readonly Tool[] = [
  tool({
    name: "show_queue",
    title: "Show the queue and what needs attention",
    description:
      "Shows how many executions wait, how many slots of workers are busy, and what needs attention: failed branches, lost workers, a full store.",
    input: z.object({}),
    async run(api) {
      const { serverEndpoints } = await import("#api/endpoints/server-endpoints.ts");
      const { farm, attention, graphs } = await api.call(serverEndpoints.overview, {});
      const items = attention.slice(0, 50).map((item) => ({
        kind: item.kind,
        sentence: attentionSentence(item),
      }));
      const running = graphs.filter(({ state }) => state === "running");
      return {
        lines: [
          farm === null
            ? "The numbers of the farm need the right `read` on the farm."
            : `${farm.queued} executions wait; ${farm.busySlots} of ${farm.slots} slots of ${farm.workers} workers are busy.`,
          ...(items.length === 0 ? ["Nothing needs attention."] : ["", "Needs attention:"]),
          ...items.map(({ sentence }) => sentence),
          ...(running.length === 0 ? [] : ["", "Running:", ...running.map(graphLine)]),
        ],
        data: { farm, attention: items, running: running.map(shortGraph) },
      };
    },
  }),
  tool({
    name: "list_workers",
    title: "List workers",
    description:
      "Lists the workers: state, slots, size class, what each runs, and why one runs nothing.",
    input: z.object({ limit: z.number().int().min(1).max(500).default(100) }),
    async run(api, { limit }) {
      const { workerEndpoints } = await import("#api/endpoints/worker-endpoints.ts");
      const all = await api.call(workerEndpoints.workers, {});
      const workers = all.slice(0, limit).map(shortWorker);
      const more = all.length - workers.length;
      return {
        lines: [
          all.length === 0 ? "There is no worker." : `${all.length} workers:`,
          ...workers.map(workerLine),
          ...(more === 0 ? [] : [`… and ${more} more`]),
        ],
        data: { workers, moreWorkers: more },
      };
    },
  }),
  tool({
    name: "compare_benchmarks",
    title: "Compare benchmarks",
    description:
      "Compares the benchmark results of two artifacts (commits or releases): which cases regressed or improved, by how much, and on what evidence. Without `after`, the newest measured artifact; without `before`, the one before it.",
    input: z.object({
      suite: z.string().optional().describe("The suite; may be left out when there is only one"),
      before: z.string().optional().describe("The tag of the earlier artifact"),
      after: z.string().optional().describe("The tag of the later artifact"),
      metric: z.string().optional(),
      limit: z.number().int().min(1).max(200).default(50).describe("Cases to show"),
    }),
    async run(api, { suite, before, after, metric, limit }) {
      const { benchmarkHistoryEndpoints } = await import(
        "#api/endpoints/benchmark-history-endpoints.ts"
      );
      const compared = await api.call(benchmarkHistoryEndpoints.compareBenchmarks, {
        query: { suite: suite ?? (await onlySuite(api)), before, after, metric },
      });
      const weight = ({ relevant, change }: CaseComparison) =>
        (relevant ? 1e6 : 0) + Math.abs(change ?? 1e5);
      const cases = compared.cases.toSorted((a, b) => weight(b) - weight(a)).slice(0, limit);
      const more = compared.cases.length - cases.length;
      return {
        lines: [
          `${compared.suite}: ${compared.before.tag} → ${compared.after.tag}, metric ${compared.metric}`,
          ...compared.summaries.map(
            ({ metric: name, direction, undecided }) =>
              `${name}: ${direction}${undecided === 0 ? "" : `, ${undecided} cases undecided`}`,
          ),
          ...cases.map(caseLine),
          ...(more === 0 ? [] : [`… and ${more} more cases`]),
          ...compared.newlyBroken
            .slice(0, 20)
            .map(({ benchmark, message }) => printableLine(`now fails: ${benchmark}: ${message}`)),
        ],
        data: {
          suite: compared.suite,
          before: compared.before,
          after: compared.after,
          metric: compared.metric,
          summaries: compared.summaries,
          cases,
          moreCases: more,
          missing: compared.missing.slice(0, limit),
          newlyBroken: compared.newlyBroken.slice(0, 50),
        },
      };
    },
  }),
];

async function onlySuite(api: ApiClient): Promise<string> {
  const { benchmarkSuiteEndpoints } = await import("#api/endpoints/benchmark-suite-endpoints.ts");
  const { suites } = await api.call(benchmarkSuiteEndpoints.benchmarkSuites, {});
  const [first, ...others] = suites;
  if (first === undefined) throw new Fault("not_found", "the farm has no benchmark suite");
  if (others.length === 0) return first.name;
  const names = suites.map(({ name }) => name).join(", ");
  throw new Fault(
    "invalid_argument",
    `the farm has several suites; name one in \`suite\`: ${names}`,
  );
}

function caseLine({ case: names, change, verdict, before, after }: CaseComparison): string {
  const name = Object.values(names)
    .filter((word) => typeof word === "string" && word !== "")
    .join(" ");
  const relative =
    change === null ? "" : ` (${change > 0 ? "+" : ""}${(change * 100).toFixed(2)} %)`;
  return `${name}: ${verdict}, ${before} → ${after}${relative}`;
}

function attentionSentence(item: AttentionItem): string {
  switch (item.kind) {
    case "failed graph":
      return `${graphLine(item.graph)}; failed: ${item.failedJobs.join(", ")}`;
    case "failed build":
      return `build ${printableLine(item.invocation)} (${printableLine(item.title)}) failed${item.failedActions.length === 0 ? "" : `: ${item.failedActions.map(({ target, mnemonic }) => printableLine(target === "" ? mnemonic : target)).join(", ")}`}`;
    case "failed benchmark":
      return `benchmark request ${item.request} of ${printableLine(item.artifact)} in ${item.suite} ended with ${item.errors} errors`;
    case "waiting graph":
      return `${item.jobs} jobs wait for a person or a time in ${graphLine(item.graph)}`;
    case "executions without a worker":
      return `${item.count} executions wait for a worker that does not exist, the first is ${item.first}: ${printableLine(item.reason)}`;
    case "lost worker":
      return `worker ${item.worker} is lost; its last heartbeat was at ${item.lastSeenAt}`;
    case "worker in trouble":
      return `worker ${item.worker} runs nothing: ${printableLine(item.reason)}`;
    case "quarantined worker":
      return `worker ${item.worker} is quarantined: ${printableLine(item.reason)}`;
    case "quarantined results":
      return `${item.results} results are quarantined, because two machines made them differently`;
    case "full store":
      return `the store is ${item.overBytes} bytes over its limit of ${item.limitBytes} bytes`;
    case "corrupt blobs":
      return `${item.blobs} blobs of the store were corrupt at ${item.at}`;
    case "benchmark alarm":
      return printableLine(item.alarm);
  }
}

function shortWorker(worker: Worker) {
  const { name, state, host, sizeClass, slots, quarantine, trouble, lastSeenAt, version } = worker;
  const running = worker.running.slice(0, 20);
  return {
    name,
    state,
    host,
    sizeClass,
    slots,
    quarantine,
    trouble,
    lastSeenAt,
    version,
    running,
    platform: worker.platform,
  };
}

function workerLine(worker: ReturnType<typeof shortWorker>): string {
  const { name, state, sizeClass, slots, running, quarantine, trouble } = worker;
  const doing = running.map(({ job, executionId }) => job ?? executionId).join(", ");
  const why = quarantine ?? trouble;
  return printableLine(
    `${name}: ${state}, size class ${sizeClass}, ${slots} slots${doing === "" ? "" : `, runs ${doing}`}${why === null ? "" : `, ${why}`}`,
  );
}
