import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import {
  importTwoMeasurements,
  runBuildWithGranary,
  runFailingBuild,
} from "../../../test/support/data-of-a-farm.ts";
import { grange, startFarm } from "../../../test/support/farm.ts";
import { callTool, mcpOverStdio } from "../../../test/support/mcp-client.ts";
import { sampleRepository } from "../../../test/support/sample-repository.ts";
import { quantile } from "../quantile.ts";
import { atMost, exactly, forInformation, type Measurement, type Row } from "../row.ts";

const repeats = 9;

const definitions = JSON.stringify({
  version: 1,
  jobs: {
    build: { inputs: ["a"], commands: "cat a" },
    broken: { inputs: [], commands: "echo 'a.c:3:1: error: broken'; exit 1" },
  },
});

/** `grange mcp` with the client of the official SDK: how soon it answers, and whether each tool answers with data. */
export const assistantTools: Measurement = {
  title: "tools for assistants (MCP)",
  long: false,
  async measure() {
    const farm = await startFarm({ workers: 1 });
    const repository = await sampleRepository({ ".grange/farm.yml": definitions, a: "1" });
    try {
      const first = await farm.submit({ repository: repository.path, parameters: {} });
      await farm.untilOver(first.id);
      await repository.commit({ a: "2" });
      const { id } = await farm.submit({ repository: repository.path, parameters: {} });
      await farm.untilOver(id);
      await Promise.all([
        runFailingBuild(farm.url, {
          invocation: "mcp-build",
          tool: "a build",
          mnemonic: "CppCompile",
          line: "action.c:5:2: error: broken",
        }),
        importTwoMeasurements(farm.url, "hyper"),
        runBuildWithGranary(farm.url),
      ]);
      return [await toolsRow(farm.url, id), ...(await startRows(farm.url))];
    } finally {
      await farm.stop();
      await repository.remove();
    }
  },
};

async function toolsRow(url: string, graph: string): Promise<Row> {
  const client = await mcpOverStdio(url);
  const job = { graph, job: "build" };
  const calls: Record<string, Record<string, unknown>> = {
    list_graphs: {},
    show_graph: { graph },
    show_job: job,
    list_failures: { graph },
    read_log: { graph, job: "broken" },
    search_log: { graph, job: "broken", text: "error" },
    list_builds: {},
    list_build_failures: { invocation: "mcp-build" },
    explain_cache_miss: job,
    list_cache_misses: {},
    show_queue: {},
    list_workers: {},
    compare_benchmarks: {},
    retrigger: { graph, selection: "broken", reason: "to measure" },
  };
  const { tools } = await client.listTools();
  const silent: string[] = [];
  for (const { name } of tools) {
    const args = calls[name];
    const answer = args === undefined ? undefined : await callTool(client, name, args);
    if (answer === undefined || answer.isError || answer.text === "") silent.push(name);
  }
  await client.close();
  return exactly(
    "mcp: tools that do not answer with data",
    silent.length,
    0,
    "",
    `client of the official SDK over stdio; ${tools.length} tools on a farm with two graphs, a failed build, a build with a granary and two measured artifacts. ${silent.join(", ")}`,
  );
}

async function startRows(url: string): Promise<Row[]> {
  const toInitialize: number[] = [];
  const toTools: number[] = [];
  for (let n = 0; n < repeats; n++) {
    const times = await answerTimes(url);
    toInitialize.push(times.initialize);
    toTools.push(times.tools);
  }
  const how = `from the start of the process; both requests are sent at once; median of ${repeats}`;
  return [
    atMost("mcp: answer to initialize", quantile(toInitialize, 0.5), 100, "ms", how),
    forInformation("mcp: answer to tools/list", quantile(toTools, 0.5), "ms", how),
  ];
}

/** Returns when the first two requests of a client were answered, in ms after the start of the process. */
async function answerTimes(url: string): Promise<{ initialize: number; tools: number }> {
  const begun = performance.now();
  const program = spawn(process.execPath, [grange, "mcp", "--server", url], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const send = (message: object) =>
    program.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  send({
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "show", version: "1" },
    },
  });
  send({ method: "notifications/initialized" });
  send({ id: 2, method: "tools/list" });
  const times: number[] = [];
  for await (const _answer of createInterface({ input: program.stdout })) {
    times.push(performance.now() - begun);
    if (times.length === 2) program.stdin.end();
  }
  if (program.exitCode === null) await once(program, "exit");
  const [initialize = Number.NaN, tools = Number.NaN] = times;
  return { initialize, tools };
}
