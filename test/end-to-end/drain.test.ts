import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { Drain } from "#api/drain.ts";
import { SubmittedGraph } from "#api/graph.ts";
import { Worker } from "#api/worker.ts";
import { type Farm, startFarm } from "../support/farm.ts";
import { grangeJson, runGrange, startGrange } from "../support/run-grange.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

const definitions = {
  long: `
version: 1
jobs:
  long: { commands: "echo begun; sleep 86397", inputs: [] }
`,
  quick: `
version: 1
jobs:
  quick: { commands: "true", inputs: [] }
`,
};

let farm: Farm;
let repository: SampleRepository;

beforeAll(async () => {
  [farm, repository] = await Promise.all([
    startFarm(),
    sampleRepository({ ".grange/farm.yml": definitions.long }),
  ]);
});
afterAll(async () => {
  await farm.stop();
  await repository.remove();
});

const at = () => ["--server", farm.url];
const drains = async (...args: string[]) =>
  z.array(Drain).parse(await grangeJson(["drain", ...args, ...at()]));
const workers = async () => {
  const response = await fetch(`${farm.url}/api/v1/workers`);
  return z.array(Worker).parse(await response.json());
};
const submit = async (text: string) => {
  await repository.commit({ ".grange/farm.yml": text });
  const answer = await grangeJson(["submit", "--repo", repository.path, ...at()]);
  return SubmittedGraph.parse(answer).id;
};

test("drain --wait returns when a worker's jobs have ended, and the worker has received no new ones", async () => {
  // Given a worker that runs a job
  const first = await submit(definitions.long);
  await farm.untilLogged(first, "long", "begun");

  // When it is drained, and another graph is submitted
  const draining = startGrange(["drain", "worker-*", "--reason", "new disks", "--wait", ...at()]);
  await draining.note((line) => line.includes("Waiting for 1 to finish"));
  const second = await submit(definitions.quick);
  await grangeJson(["cancel", first, ...at()]);
  const { code, stdout } = await draining.finished;

  // Then its job completes, and the other one waits
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: "worker-* takes no new jobs, and runs none.\n",
  });
  expect(await workers()).toMatchObject([{ name: "worker-1", state: "draining", heldCount: 0 }]);
  expect(await farm.graph(second)).toMatchObject({ jobList: [{ name: "quick", startedAt: null }] });

  // And when all drains end, the waiting job starts
  expect(await drains("worker-1")).toMatchObject([
    { pattern: "worker-*", reason: "new disks" },
    { pattern: "worker-1", reason: "" },
  ]);
  const ended = await runGrange(["drain", "worker-1", "--end", ...at()]);
  expect(ended.stdout).toContain("another drain still applies to 1 of these workers");
  expect(await drains("worker-*", "--end")).toEqual([]);
  expect((await farm.untilOver(second)).state).toBe("succeeded");
  expect((await runGrange(["drain", ...at()])).stdout).toBe("No worker is drained.\n");
});

test("an unknown drain causes an error, and so does a pattern that no worker name can match", async () => {
  const ended = await runGrange(["drain", "nobody", "--end", ...at()]);
  const strange = await runGrange(["drain", "a b", ...at()]);

  expect(ended.code).not.toBe(0);
  expect(ended.stderr).toContain('there is no drain "nobody"');
  expect(strange.stderr).toContain("a pattern with *");
});

test("a command that waits for a job says so when no worker can run it, with what to do", async () => {
  await repository.commit({
    ".grange/farm.yml":
      "version: 1\njobs:\n  odd: { commands: 'true', inputs: [], platform: { keyboard: piano } }\n",
  });
  const waiting = startGrange(["submit", "--repo", repository.path, "--wait", ...at()]);

  const line = await waiting.note((each) => each.includes("keyboard"));

  expect(line).toMatch(/^odd waits for a worker with keyboard=piano.*To shorten the wait: /);
  await grangeJson(["cancel", "latest", ...at()]);
  expect((await waiting.finished).code).toBe(1);
});
