import { z } from "zod";
import { Fault } from "#core/fault.ts";
import type { ApiClient } from "../api/api-client.ts";
import { logAddressesOfExecution, logAddressesOfRun } from "../log-addresses.ts";
import type { LogAddresses } from "../log-lines.ts";
import { graphArgument } from "./graph-tools.ts";
import { endOfLog, linesFrom, numbered, searchLog } from "./log-excerpt.ts";
import { type Tool, tool } from "./tool.ts";

/** Names a log: that of a run of a job, or what an execution wrote. */
const whichLog = {
  graph: graphArgument,
  job: z.string().max(1_024).optional().describe("The job whose log is meant"),
  run: z.number().int().min(1).optional().describe("The run's number; the latest by default"),
  batch: z.number().int().min(0).optional().describe("A batch of a chunked job's run"),
  execution: z.uuid().optional().describe("Instead of a job: an execution, such as of a build"),
  stream: z.enum(["stdout", "stderr"]).default("stdout").describe("Of an execution"),
};
type WhichLog = z.output<z.ZodObject<typeof whichLog>>;

/** Excerpts of logs, and search in them. */
export const logTools: readonly Tool[] = [
  tool({
    name: "read_log",
    title: "Read a part of a log",
    description:
      "Reads lines of the log of a job's run or of an execution: the end by default, or lines from a number on. Colours are removed.",
    input: z.object({
      ...whichLog,
      from: z.number().int().min(1).optional().describe("The first line; without it, the end"),
      lines: z.number().int().min(1).max(1_000).default(100),
    }),
    async run(api, { from, lines: most, ...which }) {
      const addresses = await addressesOf(api, which);
      const part = await (from === undefined
        ? endOfLog(api, addresses, most)
        : linesFrom(api, addresses, from, most));
      return {
        lines:
          part.lines.length === 0
            ? [`There are no such lines: the log has ${part.totalLines} lines.`]
            : part.lines.map((each) => numbered(each)),
        data: { ...part },
      };
    },
  }),
  tool({
    name: "search_log",
    title: "Search in a log",
    description:
      "Finds the lines of a log that contain a text, in upper or lower case, with lines around each. The text is not a pattern.",
    input: z.object({
      ...whichLog,
      text: z
        .string()
        .min(1)
        .max(256)
        .regex(/^[^\r\n]*$/, "the search works in single lines: remove the line break"),
      context: z.number().int().min(0).max(10).default(2).describe("Lines before and after each"),
      limit: z.number().int().min(1).max(100).default(20),
    }),
    async run(api, { text, context, limit, ...which }) {
      const found = await searchLog(api, await addressesOf(api, which), text, {
        context,
        most: limit,
      });
      return {
        lines: [
          `${found.isExact ? "" : "at least "}${found.totalMatches} lines contain it.`,
          ...found.matches.flatMap((match) => [
            "",
            ...match.before.map((each) => numbered(each)),
            numbered(match, ">"),
            ...match.after.map((each) => numbered(each)),
          ]),
        ],
        data: { ...found },
      };
    },
  }),
];

async function addressesOf(api: ApiClient, which: WhichLog): Promise<LogAddresses> {
  const { graph, job, run, batch, execution, stream } = which;
  if (execution !== undefined) return logAddressesOfExecution(execution, stream);
  if (job === undefined) {
    throw new Fault("invalid_argument", "name the log: `job` with `graph`, or `execution`");
  }
  const number = run ?? (await latestRun(api, graph, job));
  return logAddressesOfRun({ graph, job, run: number, ...(batch === undefined ? {} : { batch }) });
}

async function latestRun(api: ApiClient, graph: string, job: string): Promise<number> {
  const { runList } = await api.job(graph, job);
  const [latest] = runList;
  if (latest === undefined) throw new Fault("not_found", `${job} has no run yet, so it has no log`);
  return latest.number;
}
