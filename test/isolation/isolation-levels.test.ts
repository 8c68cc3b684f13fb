import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { JobWaiting } from "#api/waiting.ts";
import { readWorkerConfig } from "#worker/config.ts";
import { probeFacilities } from "#worker/machine.ts";
import { type FarmHere, startFarmHere } from "../support/farm-here.ts";
import { sandboxNeed } from "../support/needs/machine-needs.ts";
import { skipWithout } from "../support/needs/needs.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

let farm: FarmHere;
let repository: SampleRepository;
let graph: string;

beforeAll(async () => {
  [farm, repository] = await Promise.all([
    startFarmHere(),
    sampleRepository({
      ".grange/farm.yml": `version: 1
jobs:
  any: {inputs: [], commands: echo any}
  sandboxed: {inputs: [], commands: echo sandboxed, isolation: sandbox}
  strict: {inputs: [], commands: echo strict, isolation: strict}
`,
    }),
  ]);
  graph = await farm.submit({ repository: repository.path, rev: "main" });
}, 60_000);
afterAll(async () => {
  await farm?.stop();
  await repository?.remove();
});

const stateOf = async (job: string) => (await farm.job(graph, job)).job.state;

async function ended(job: string): Promise<string> {
  await farm.untilLogged(graph, job, job);
  for (;;) {
    const { job: shown } = await farm.job(graph, job);
    if (shown.state !== "running") return shown.state;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const strictWorker = {
  memoryBytes: 512 * 2 ** 20,
  diskBytes: 512 * 2 ** 20,
  allowsNamespaces: false,
};

/** The levels that this machine could offer, or why it has no sandbox. */
async function facilitiesHere() {
  const dataDir = await mkdtemp(join(tmpdir(), "grange-levels-"));
  try {
    const names = { server: farm.url, name: "probe", slots: 1 };
    return await probeFacilities(readWorkerConfig({ ...names, dataDir, ...strictWorker }));
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

test("a job runs on a worker with the isolation that it requires, and waits for one with a reason", async (context) => {
  const { sandbox = "none", isolation = "" } = await facilitiesHere();
  skipWithout(context, sandboxNeed(sandbox));
  skipWithout(context, {
    name: "limits of processes",
    missing: isolation.includes("strict") ? undefined : "this user has no control group for them",
    remedy: { kind: "root" },
  });
  const [any, sandboxed] = [await ended("any"), await ended("sandboxed")];
  const answer = await farm.ask(`/graphs/${graph}/jobs/strict/waiting`);
  const { waiting } = JobWaiting.parse(await answer.json());
  const before = await stateOf("strict");
  await farm.startWorker(strictWorker);
  const strict = await ended("strict");

  expect([any, sandboxed, before, strict]).toEqual([
    "succeeded",
    "succeeded",
    "queued",
    "succeeded",
  ]);
  expect(waiting?.sentence).toContain("waits for a worker with the isolation strict");
  expect(waiting?.advice).toContain('"not stopped"');
}, 60_000);
