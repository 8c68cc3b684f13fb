import { afterAll, beforeAll, expect, test } from "vitest";
import type { Run } from "#api/graph.ts";
import type { Worker } from "#api/worker.ts";
import { type Farm, startFarm } from "../support/farm.ts";
import { sandboxNeed } from "../support/needs/machine-needs.ts";
import { skipWithout } from "../support/needs/needs.ts";
import { processesWith } from "../support/processes-with.ts";
import { runGrange } from "../support/run-grange.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

const daemonSleep = `86397.${process.pid}`;
const escapesBytes = 5_000_000;

/** Contains the farm's directory, which is known only after its start. */
function definitions({ dataDir, url }: Farm): string {
  const port = new URL(url).port;
  return `
version: 1
jobs:
  climbs:
    commands: mkdir made; ln -s ../../../../../../etc/passwd made/out
    inputs: []
    outputs: [made]
  absolute:
    commands: ln -s /etc/passwd out
    inputs: []
    outputs: [out]
  fifo:
    commands: mkfifo out
    inputs: []
    outputs: [out]
  loud:
    commands: |
      yes "$(printf '\\033[31m\\033]0;title\\007\\033[2J')" | head -c ${escapesBytes}
    inputs: []
  daemon:
    commands: setsid sleep ${daemonSleep} > /dev/null 2>&1 & echo left
    inputs: []
  reads-farm:
    commands: cat ${dataDir}/pgdata/PG_VERSION
    inputs: []
  lists-farm:
    commands: test -n "$(ls -A ${dataDir}/blobs)"
    inputs: []
  calls-farm:
    commands:
      - command -v node
      - |
        node -e 'fetch("${url}/api/v1/server").then(() => process.exit(0), () => process.exit(7))'
    inputs: []
  calls-port:
    commands: bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port}'
    inputs: []
`;
}

/** The job itself limits them: each process needs a page or two, and all end with the first. */
const multiplying = `
version: 1
jobs:
  multiplies:
    commands:
      - mkfifo never
      - i=0; while [ $i -lt 5000 ]; do (read -r x < never) & i=$((i + 1)); done
      - echo all began
    inputs: []
    timeout: 1m
`;

let farm: Farm;
let repository: SampleRepository;
let worker: Worker;
let graph: string;

beforeAll(async () => {
  farm = await startFarm({ workers: 0, keepsCluster: true });
  farm.startWorker();
  repository = await sampleRepository({ ".grange/farm.yml": definitions(farm) });
  graph = (await farm.submit({ repository: repository.path })).id;
  await farm.untilOver(graph);
  const workers = (await (await fetch(`${farm.url}/api/v1/workers`)).json()) as Worker[];
  if (workers[0] === undefined) throw new Error("there is no worker");
  worker = workers[0];
});
afterAll(async () => {
  await farm.stop();
  await repository.remove();
});

async function runOf(job: string): Promise<Run> {
  const { runList } = await farm.job(graph, job);
  const [run, ...more] = runList;
  expect(more).toEqual([]);
  if (run === undefined) throw new Error(`${job} has no run`);
  return run;
}

test("an output that is a symlink climbing out is refused by name", async () => {
  const run = await runOf("climbs");

  expect(run).toMatchObject({ outcome: "failed", outputs: [] });
  expect(run.message).toMatch(/out/);
  expect(run.message).toMatch(/etc\/passwd|leads out/);
});

test("an output that is a symlink with an absolute target is stored as a link, and not followed", async () => {
  expect(await runOf("absolute")).toMatchObject({
    outcome: "succeeded",
    outputs: [{ path: "out", kind: "symlink", digest: null, sizeBytes: null }],
  });
});

test("an output that is a fifo is refused, and no process waits for it", async () => {
  const run = await runOf("fifo");

  expect(run).toMatchObject({ outcome: "failed", outputs: [] });
  expect(run.message).toMatch(/out/);
});

test("five megabytes of escape sequences are stored unchanged", async () => {
  expect(await runOf("loud")).toMatchObject({ outcome: "succeeded" });

  const { stdout } = await runGrange(["logs", graph, "loud", "--server", farm.url]);

  const begin = stdout.indexOf("\u001b[31m");
  expect(stdout.length - begin).toBe(escapesBytes);
});

test("a background process of a job is ended with the job", async () => {
  expect(await runOf("daemon")).toMatchObject({ outcome: "succeeded" });
  expect(await processesWith(daemonSleep)).toEqual([]);
});

test.for(["reads-farm", "lists-farm"])(
  "a job sees nothing of the farm's data: %s",
  async (job, context) => {
    skipWithout(context, sandboxNeed(worker.facilities["sandbox"] ?? "none"));

    expect(await runOf(job)).toMatchObject({ outcome: "failed" });
  },
);

test.for(["calls-farm", "calls-port"])(
  "a job without network cannot reach the farm on its own machine: %s",
  async (job, context) => {
    skipWithout(context, sandboxNeed(worker.facilities["sandbox"] ?? "none"));

    expect(await runOf(job)).toMatchObject({ outcome: "failed" });
  },
);

test("a job that starts processes without end reaches its limit, and the worker continues", async (context) => {
  const { limits } = worker.facilities;
  skipWithout(context, {
    name: "a limit on the number of processes",
    missing: limits?.includes("processes") === true ? undefined : `limits: ${limits}`,
    remedy: { kind: "root" },
  });

  const { id } = await farm.submit({
    repository: repository.path,
    definitions: { "farm.yml": multiplying },
  });
  await farm.untilOver(id);

  const { runList } = await farm.job(id, "multiplies");
  expect(runList).toMatchObject([{ outcome: "failed", attempt: 1 }]);
  expect(await farm.log(id, "multiplies")).not.toContain("all began");
  const next = await farm.submit({ repository: repository.path });
  expect((await farm.untilOver(next.id)).counts.succeeded).toBe(3);
});
