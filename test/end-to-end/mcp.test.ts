import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  importTwoMeasurements,
  runBuildWithGranary,
  runFailingBuild,
} from "../support/data-of-a-farm.ts";
import { type Farm, startFarm } from "../support/farm.ts";
import { callTool, mcpOverHttp, mcpOverStdio } from "../support/mcp-client.ts";
import type { Program } from "../support/process.ts";
import { runGrange, startGrange } from "../support/run-grange.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

const farmFile = (flag: string) => `version: 1
jobs:
  build:
    inputs: [src]
    environment: { FLAG: "${flag}" }
    commands: cat src/a.txt
  broken:
    inputs: []
    commands:
      - for i in $(seq 1 300); do echo "line $i"; done
      - echo "src/a.c:3:1 error - expected ';'"
      - echo "the end"; exit 3
`;

const failingBuild = {
  invocation: "assistant-build",
  tool: "a build for assistants",
  mnemonic: "CppCompile",
  line: "action.c:5:2: error: broken action",
};

let farm: Farm;
let repository: SampleRepository;
let root: string;
let reader: string;
let graphs: readonly [string, string];
let http: Program | undefined;
const open: Client[] = [];

beforeAll(async () => {
  [farm, repository] = await Promise.all([
    startFarm(),
    sampleRepository({ ".grange/farm.yml": farmFile("one"), "src/a.txt": "1\n", "src/b.txt": "" }),
  ]);
  const first = await farm.submit({ repository: repository.path });
  await farm.untilOver(first.id);
  await Promise.all([
    runFailingBuild(farm.url, failingBuild),
    importTwoMeasurements(farm.url, "hyper"),
    runBuildWithGranary(farm.url),
  ]);
  await repository.commit({ ".grange/farm.yml": farmFile("two"), "src/a.txt": "2\n" });
  const second = await farm.submit({ repository: repository.path });
  await farm.untilOver(second.id);
  graphs = [first.id, second.id];
  root = await tokenOf("root", ["*", "--top"]);
  reader = await tokenOf("reader", ["read", "read-logs"]);
  await grangeWith(root, "access", "set", "private");
  http = startGrange(["mcp", "--http", "--port", "0", "--server", farm.url]);
});
afterAll(async () => {
  await Promise.all(open.map((client) => client.close()));
  http?.signal("SIGTERM");
  await http?.finished;
  await farm.stop();
  await repository.remove();
});

const grangeWith = (token: string, ...args: string[]) =>
  runGrange([...args, "--server", farm.url], { env: { GRANGE_TOKEN: token } });

async function tokenOf(name: string, verbs: readonly string[]): Promise<string> {
  const at = ["--server", farm.url];
  const { stdout } = await runGrange(["token", "create", name, "--expires", "1d", ...at]);
  const flags = verbs.filter((word) => word.startsWith("--"));
  for (const verb of verbs.filter((word) => !word.startsWith("--"))) {
    const added = await runGrange(["grant", "add", name, verb, ...flags, ...at]);
    expect(added).toMatchObject({ code: 0 });
  }
  return stdout.trim();
}

async function overStdio(token: string): Promise<Client> {
  const client = await mcpOverStdio(farm.url, { GRANGE_TOKEN: token });
  open.push(client);
  return client;
}

async function overHttp(token: string | undefined): Promise<Client> {
  const client = await mcpOverHttp(await mcpUrl(), token);
  open.push(client);
  return client;
}

async function mcpUrl(): Promise<string> {
  const line = await http?.line((each) => each.startsWith("MCP at "));
  return /MCP at (\S+)/.exec(line ?? "")?.[1] ?? "";
}

test.each([
  { over: "stdio", connect: overStdio },
  { over: "HTTP", connect: overHttp },
])("over $over each tool answers with text and data", async ({ connect }) => {
  const client = await connect(root);
  const { tools } = await client.listTools();
  const build = { graph: graphs[1], job: "build" };
  const calls: Record<string, Record<string, unknown>> = {
    list_graphs: {},
    show_graph: { graph: "latest" },
    show_job: build,
    list_failures: {},
    read_log: { job: "broken", from: 2, lines: 2 },
    search_log: { job: "broken", text: "LINE 150" },
    list_builds: {},
    list_build_failures: { invocation: failingBuild.invocation },
    explain_cache_miss: build,
    list_cache_misses: {},
    show_queue: {},
    list_workers: {},
    compare_benchmarks: {},
    retrigger: { job: "broken" },
  };

  const answers = new Map<string, Awaited<ReturnType<typeof callTool>>>();
  for (const [name, args] of Object.entries(calls))
    answers.set(name, await callTool(client, name, args));

  expect(tools.map(({ name }) => name).toSorted()).toEqual(Object.keys(calls).toSorted());
  const failed = [...answers].filter(([, { isError }]) => isError).map(([name]) => name);
  // It does not say why, and which jobs.
  expect(failed).toEqual(["retrigger"]);
  expect(answers.get("retrigger")?.text).toMatch(/^error: /);
  expect(answers.get("list_builds")?.text).toContain(
    `${failingBuild.invocation} over: ${failingBuild.tool}, 0 hits, 0 executed, 1 failed`,
  );
  expect(answers.get("read_log")?.text).toBe("      2  line 1\n      3  line 2");
  expect(answers.get("search_log")?.data).toMatchObject({
    totalMatches: 1,
    matches: [
      { line: 151, before: [{ line: 149 }, { line: 150 }], after: [{ line: 152 }, { line: 153 }] },
    ],
  });
  expect(answers.get("list_workers")?.text).toMatch(
    // On a busy machine its heartbeats may be late: then it is `lost` for a moment.
    /^1 workers:\nworker-1: (idle|lost), size class 1, 2 slots/,
  );
  expect(answers.get("show_queue")?.text).toContain("0 executions wait; 0 of");
});

test("a failed build is answered with target, command and the line of the error", async () => {
  const client = await overHttp(reader);
  const { invocation } = failingBuild;

  const { text, data } = await callTool(client, "list_build_failures", { invocation });
  const unknown = await callTool(client, "list_build_failures", { invocation: "unknown" });

  expect(text).toContain("1 failed actions:");
  expect(text).toMatch(/CppCompile \/\/broken:CppCompile: .*exit 1, execution [0-9a-f-]{36}/);
  expect(text).toContain("command: /bin/sh -c echo begun;");
  expect(text).toMatch(/^> +1 {2}action\.c:5:2: error: broken action$/m);
  expect(data).toMatchObject({ failures: [{ exitCode: 1 }], hasMore: false });
  expect(unknown).toMatchObject({ isError: true, text: expect.stringContaining("unknown") });
});

test("benchmarks of the last two artifacts are compared", async () => {
  const client = await overHttp(reader);

  const { text, data } = await callTool(client, "compare_benchmarks");
  const wrong = await callTool(client, "compare_benchmarks", { suite: "none" });

  expect(text).toContain("hyper: v1 → v2");
  expect(text).toMatch(/sort.*50/);
  expect(data).toMatchObject({ before: { tag: "v1" }, after: { tag: "v2" }, moreCases: 0 });
  expect(wrong).toMatchObject({ isError: true, text: expect.stringContaining("none") });
});

test("a build with a granary is listed, with the reason for each result that was missing", async () => {
  const client = await overHttp(reader);

  const list = await callTool(client, "list_cache_misses");
  const [build] = list.data["builds"] as { id: string; command: string }[];
  const { text, data } = await callTool(client, "list_cache_misses", { build: build?.id });

  expect(list.text).toMatch(/^1 builds:\n.* tool\.mjs: 2 missed, 0 without the farm/);
  expect(text.split("\n").slice(1).toSorted()).toEqual([
    expect.stringMatching(/^ccache \w+\/aa\/a{38}: never-made \(missed\)$/),
    expect.stringMatching(/^ccache \w+\/bb\/b{38}: never-made \(missed\)$/),
  ]);
  expect(data["misses"]).toHaveLength(2);
});

test("a failed graph is answered with the line of the error and the end of the log", async () => {
  const client = await overHttp(reader);

  const { text, data } = await callTool(client, "list_failures", { graph: graphs[1], lines: 3 });

  expect(text).toContain("1 jobs failed.");
  expect(text).toContain("broken: run 1 failed, exit 3");
  expect(text).toContain("probable error, line 303: src/a.c:3:1 error - expected ';'");
  expect(text).toMatch(/the last 3 of 305 lines:\n> {3}303 {2}src/);
  expect(data).toMatchObject({
    failedJobs: 1,
    failures: [{ job: "broken", run: { exitCode: 3 } }],
  });
});

test("a cache miss is explained by what changed in the action", async () => {
  const client = await overHttp(reader);

  const { text, data } = await callTool(client, "explain_cache_miss", {
    graph: graphs[1],
    job: "build",
  });

  expect(text).toContain('environment: FLAG was "one" and is "two"');
  expect(text).toContain("input src/a.txt: changed");
  expect(text).not.toContain("src/b.txt");
  expect(data).toMatchObject({ sameAction: false, inputs: { isCut: false } });
});

test("jobs run again only with the right, and only as the first call has shown", async () => {
  const wanted = { graph: graphs[1], selection: "broken", reason: "it may be flaky" };

  const refused = await callTool(await overStdio(reader), "retrigger", wanted);
  const client = await overStdio(root);
  const shown = await callTool(client, "retrigger", wanted);
  const before = await farmJob("broken");
  const done = await callTool(client, "retrigger", { ...wanted, token: shown.data["token"] });

  expect(refused).toMatchObject({ isError: true, text: expect.stringContaining("retrigger") });
  expect(shown.text).toMatch(/^Nothing has run yet\..*\nbroken \(failed\): runs/);
  expect(before.runs).toBe(1);
  expect(done.text).toMatch(/^Done\. These jobs run again:\nbroken/);
  expect((await farmJob("broken")).runs).toBe(2);
});

async function farmJob(name: string): Promise<{ readonly runs: number }> {
  const { stdout } = await grangeWith(root, "status", graphs[1], "--json");
  const { jobList } = JSON.parse(stdout) as { jobList: { name: string; runs: number }[] };
  return jobList.find((job) => job.name === name) ?? { runs: 0 };
}

test("over HTTP nobody acts with another's token, and no page of another host can call", async () => {
  const url = await mcpUrl();
  const post = (headers: Record<string, string>) =>
    fetch(url, {
      method: "POST",
      body: "{}",
      headers: { "content-type": "application/json", ...headers },
    });

  const anyone = await callTool(await overHttp(undefined), "list_workers");

  expect(anyone).toMatchObject({ isError: true, text: expect.stringContaining("token") });
  expect((await post({ authorization: "Bearer x" })).status).toBe(401);
  expect((await post({ origin: "https://evil.example" })).status).toBe(403);
  expect((await fetch(url.replace("/mcp", "/other"))).status).toBe(404);
});

test("an unreachable farm is an answer that says what to do", async () => {
  const client = await mcpOverStdio("http://127.0.0.1:1");
  open.push(client);

  const { text, isError } = await callTool(client, "list_graphs");

  expect(isError).toBe(true);
  expect(text).toContain("there is no Grange server at http://127.0.0.1:1");
});
