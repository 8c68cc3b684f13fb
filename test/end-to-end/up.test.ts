import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, hostname, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Worker } from "#api/worker.ts";
import { localWorkers } from "#cli/up/local-workers.ts";
import { linkCluster, removeWithCluster } from "../support/prepared-cluster.ts";
import { processesWith, untilNoProcessWith } from "../support/processes-with.ts";
import { lastLine, runGrange, startGrange } from "../support/run-grange.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

/** A duration that no other process sleeps: it identifies the job's process. */
const longSleep = `86399.${process.pid}`;

const definitions = `
version: 1
jobs:
  make: { commands: "sort words > sorted", inputs: [words], outputs: [sorted] }
  use: { needs: [make], commands: "cat sorted", inputs: [] }
`;

let repository: SampleRepository;
let scratch: string;
const dataDirectories: string[] = [];
let green: string;
let red: string;
let long: string;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "grange-up-"));
  repository = await sampleRepository({ ".grange/farm.yml": definitions, words: "b\na\n" });
  green = await repository.git("rev-parse", "HEAD");
  red = await repository.commit({
    ".grange/farm.yml": `${definitions}  bad: { commands: "echo the reason >&2; exit 3", inputs: [] }\n`,
  });
  long = await repository.commit({
    ".grange/farm.yml": `${definitions}  long: { commands: "sleep ${longSleep}", inputs: [] }\n`,
  });
});
afterAll(async () => {
  await repository.remove();
  for (const data of dataDirectories) await removeWithCluster(data);
  await rm(scratch, { recursive: true, force: true });
});

const thisMachine = {
  hostname: hostname(),
  cores: availableParallelism(),
  memoryBytes: totalmem(),
};

async function workersOf(origin: string): Promise<readonly Worker[]> {
  return (await fetch(`${origin}/api/v1/workers`)).json() as Promise<readonly Worker[]>;
}

/**
 * Returns a data directory with a prepared database, which saves time; the first test here starts
 * without one.
 */
async function dataWithDatabase(name: string): Promise<string> {
  const data = join(scratch, name);
  await linkCluster(data);
  dataDirectories.push(data);
  return data;
}

/**
 * Returns all arguments of `grange up` except the revision; the data directory identifies its
 * processes.
 */
function up(data: string): string[] {
  return ["up", "--json", "--port", "0", "--data", data, "--repo", repository.path];
}

test("up --once runs a commit successfully, and again without executing anything", async () => {
  const data = join(scratch, "once");

  const first = await runGrange([...up(data), "--once", "--rev", green]);
  const again = await runGrange([...up(data), "--once", "--rev", green]);

  expect(lastLine(first)).toEqual({
    state: "succeeded",
    jobs: 2,
    executed: 2,
    hits: 0,
    failed: 0,
    seconds: expect.any(Number),
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/graphs\/[0-9a-f-]{36}$/),
  });
  expect(first.code).toBe(0);
  expect(lastLine(again)).toMatchObject({ state: "succeeded", executed: 0, hits: 2 });
  expect(again.code).toBe(0);
  expect(await processesWith(data)).toEqual([]);
});

test("up --once ends with 1 if the graph fails, and prints the end of the failed job's log", async () => {
  const data = await dataWithDatabase("red");

  const ended = await runGrange([...up(data), "--once", "--rev", red]);

  expect(lastLine(ended)).toMatchObject({ state: "failed", jobs: 3, executed: 3, failed: 1 });
  expect(ended.code).toBe(1);
  expect(ended.stderr).toMatch(/^--- end of the log of bad ---\n(.*\n)*the reason\n/m);
  expect(ended.stderr).not.toContain("grange logs");
  expect(await processesWith(data)).toEqual([]);
});

test("up continues after the graph, prints one URL, and Ctrl-C ends all processes", async () => {
  const data = await dataWithDatabase("stays");
  const program = startGrange([...up(data), "--rev", green]);
  const result = JSON.parse(await program.line((line) => line.startsWith("{"))) as { url: string };
  const { origin } = new URL(result.url);
  expect((await fetch(result.url)).status).toBe(200);
  // A worker that cannot start is restarted repeatedly: only this check would detect it.
  await expect
    .poll(async () => (await workersOf(origin)).map(({ state }) => state))
    .toEqual(localWorkers(thisMachine).map(() => "idle"));

  program.signal("SIGINT");
  const { code, stderr } = await program.finished;

  expect(code).toBe(0);
  expect(stderr.match(/http:\/\/\S+/g)?.filter((url) => !url.includes("/graphs/"))).toEqual([
    origin,
  ]);
  expect(await processesWith(data)).toEqual([]);
});

test("Ctrl-C during a job ends the job without waiting for it, and with --once cancels the graph", async () => {
  const data = await dataWithDatabase("middle");
  const program = startGrange([...up(data), "--once", "--rev", long]);
  await program.note((line) => line.includes("long running"));
  expect(await processesWith(longSleep)).not.toEqual([]);

  program.signal("SIGINT");
  const ended = await program.finished;

  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain("Graph cancelled.\nStopping …\n");
  expect(lastLine(ended)).toMatchObject({ state: "cancelled" });
  expect(await processesWith(data)).toEqual([]);
  expect(await processesWith(longSleep)).toEqual([]);
});

test.each(["SIGKILL", "SIGTERM"] as const)(
  "a farm whose `up` got %s leaves nobody behind",
  async (signal) => {
    const data = await dataWithDatabase(signal);
    const program = startGrange([...up(data), "--rev", green]);
    await program.line((line) => line.startsWith("{"));
    expect(await processesWith(data)).not.toEqual([]);

    program.signal(signal);
    await program.finished;

    // A killed process cannot wait for its children; they end by themselves.
    if (signal === "SIGKILL") await untilNoProcessWith(data);
    expect(await processesWith(data)).toEqual([]);
  },
);
