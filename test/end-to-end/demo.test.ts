import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { benchmarkHistoryEndpoints } from "#api/endpoints/benchmark-history-endpoints.ts";
import { graphEndpoints } from "#api/endpoints/graph-endpoints.ts";
import { invocationEndpoints } from "#api/endpoints/invocation-endpoints.ts";
import { workerEndpoints } from "#api/endpoints/worker-endpoints.ts";
import { type ApiClient, apiClient } from "#cli/api/api-client.ts";
import { demoCommits, demoMilestones } from "#cli/example/demo-commits.ts";
import { linkCluster, removeWithCluster } from "../support/prepared-cluster.ts";
import { processesWith } from "../support/processes-with.ts";
import { lastLine, runGrange, startGrange } from "../support/run-grange.ts";

interface Totals {
  readonly jobs: number;
  readonly hits: number;
}

/** The demo takes a minute on two idle cores. */
const wholeDemoMs = 600_000;

let scratch: string;
const dataDirectories: string[] = [];
let path: string;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "grange-demo-"));
  path = await pathWithoutCompiler();
});
afterAll(async () => {
  for (const data of dataDirectories) await removeWithCluster(data);
  await rm(scratch, { recursive: true, force: true });
});

/** Returns a PATH with a C compiler that fails, as if its headers were missing. */
async function pathWithoutCompiler(): Promise<string> {
  const cc = join(scratch, "cc");
  await writeFile(cc, "#!/bin/sh\nexit 1\n");
  await chmod(cc, 0o755);
  return `${scratch}:${process.env["PATH"] ?? ""}`;
}

async function dataDirectory(name: string): Promise<string> {
  const data = join(scratch, name);
  await linkCluster(data);
  dataDirectories.push(data);
  return data;
}

function up(data: string, ...more: string[]): string[] {
  return ["up", "--demo", "--json", "--port", "0", "--data", data, ...more];
}

/** Starts a farm that is stopped at the end of its test, also if the test fails. */
function startDemo(data: string) {
  const program = startGrange(up(data));
  onTestFinished(async () => {
    program.signal("SIGTERM");
    await program.finished;
  });
  return program;
}

/** Returns the state of the graph of each commit before the newest, by the commit's subject. */
async function statesOfEarlier(api: ApiClient, newest: string): Promise<Record<string, string>> {
  const graphs = await api.call(graphEndpoints.graphs, {
    query: { repository: "concordance", limit: 50 },
  });
  return Object.fromEntries(
    graphs
      .filter(({ subject }) => subject !== newest)
      .map(({ subject, state }) => [subject, state]),
  );
}

test(
  "the demo succeeds, fails as planned, finds the regression, and is then idle",
  async () => {
    const data = await dataDirectory("whole");
    const first = startDemo(data);
    const result = JSON.parse(await first.line((line) => line.startsWith("{"))) as {
      state: string;
      url: string;
    };
    expect(result).toMatchObject({ state: "succeeded", failed: 0, hits: 0 });
    const measured = await first.note((line) => line.includes("benchmarks of 6 commits"));
    expect(measured).toContain("commit 5 is slower in 3 of 3 cases");
    await first.note((line) => line.includes("keeps running"));

    const { origin } = new URL(result.url);
    const api = apiClient(origin);
    const graphs = await api.call(graphEndpoints.graphs, {
      query: { repository: "concordance", limit: 50 },
    });
    expect(graphs).toHaveLength(7);
    const expected = demoCommits.map(({ message }, index) => [
      message.split("\n")[0],
      index === demoMilestones.failing ? "failed" : "succeeded",
    ]);
    const newest = demoCommits.at(-1)?.message ?? "";
    const { [newest]: _, ...earlier } = Object.fromEntries(expected);
    expect(await statesOfEarlier(api, newest)).toEqual(earlier);

    const red = graphs.find(({ state }) => state === "failed");
    const failed = (await api.graph(red?.id ?? "")).jobList.filter((job) => job.state === "failed");
    expect(failed.map(({ name }) => name)).toEqual(["js/test"]);

    const release = graphs.find(({ state, subject }) => state === "running" && subject === newest);
    const waiting = await api.graph(release?.id ?? "");
    expect(waiting.jobList.find(({ name }) => name === "sign-off")?.state).toBe("waiting");

    const { invocations } = await api.call(invocationEndpoints.invocations, {
      query: { limit: 10 },
    });
    expect(invocations.map(({ tool }) => tool.name)).toEqual(["grange-demo", "grange-demo"]);

    const [, , , fixed = "", slower = ""] = graphs
      .toSorted((a, b) => a.committedAt.localeCompare(b.committedAt))
      .map(({ commit }) => commit.slice(0, 12));
    const { cases } = await api.call(benchmarkHistoryEndpoints.compareBenchmarks, {
      query: {
        suite: "concordance",
        before: fixed,
        after: slower,
        metric: "probes",
      },
    });
    expect(cases.map(({ verdict }) => verdict)).toEqual(["regressed", "regressed", "regressed"]);
    expect((await api.call(workerEndpoints.workers, {})).map(({ state }) => state)).toEqual([
      "idle",
      "idle",
    ]);

    first.signal("SIGINT");
    expect((await first.finished).code).toBe(0);
    expect(await processesWith(data)).toEqual([]);

    const second = startDemo(data);
    const again = JSON.parse(await second.line((line) => line.startsWith("{"))) as Totals;
    await second.note((line) => line.includes("keeps running"));
    second.signal("SIGINT");
    const { stderr } = await second.finished;

    // All but js/test, whose batches depend on the durations of the previous run.
    expect(again).toMatchObject({ state: "succeeded", failed: 0 });
    expect(again.hits).toBeGreaterThanOrEqual(again.jobs - 1);
    expect(stderr).toContain("The demo is complete");
    expect(stderr).not.toContain("commit 1 ");
    expect(await processesWith(data)).toEqual([]);
  },
  wholeDemoMs,
);

test("a machine without a C compiler runs everything else, and the output names what is left out", async () => {
  const data = await dataDirectory("no-compiler");

  const ended = await runGrange(up(data, "--once"), { env: { PATH: path } });

  expect(lastLine(ended)).toMatchObject({ state: "succeeded", failed: 0 });
  expect(ended.code).toBe(0);
  expect(ended.stderr).toMatch(/Not included: .* no C compiler/);
  expect(ended.stderr).toContain("c/left-out");
  expect(ended.stderr).not.toContain("c/build");
  expect(await processesWith(data)).toEqual([]);
});

test("the demo and --repo exclude each other", async () => {
  const { code, stderr } = await runGrange(up(join(scratch, "both"), "--repo", "."));

  expect(code).toBe(2);
  expect(stderr).toContain("--demo and --repo contradict each other");
});

test("without Git, the demo reports that Git is missing", async () => {
  const { code, stderr } = await runGrange(up(join(scratch, "no-git"), "--once"), {
    env: { PATH: "/nowhere" },
  });

  expect(code).toBe(1);
  expect(stderr).toMatch(/git is not installed/i);
});

test("an error names a data directory that cannot be created", async () => {
  const { code, stderr } = await runGrange(up("/dev/null/data", "--once"));

  expect(code).toBe(1);
  expect(stderr).toMatch(/cannot write to the data directory .*GRANGE_DATA/);
});

test("a port in use is reported before the demo is created", async () => {
  const holder = createServer().listen(0, "127.0.0.1");
  await once(holder, "listening");
  const { port } = holder.address() as AddressInfo;

  const data = join(scratch, "port");
  const { code, stderr } = await runGrange(up(data, "--once", "--port", String(port)));
  holder.close();

  expect(code).toBe(1);
  expect(stderr).toContain(`port ${port} is in use`);
});

test("outside of a repository, `up` describes what to do and mentions the demo", async () => {
  const { code, stderr } = await runGrange(["up", "--port", "0"], { cwd: tmpdir() });

  expect(code).toBe(1);
  expect(stderr).toMatch(/not a Git repository.*grange up --demo/);
});
