import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { Graph, GraphSummary, JobSummary, Run, SubmittedGraph } from "#api/graph.ts";
import { Worker } from "#api/worker.ts";
import { type Farm, startFarm } from "../support/farm.ts";
import { processesWith, untilNoProcessWith } from "../support/processes-with.ts";
import { grangeJson, runGrange, startGrange } from "../support/run-grange.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

/** A duration that no other process sleeps: it identifies the job's process. */
const longSleep = `86398.${process.pid}`;
const talk = Array.from({ length: 40 }, (_, i) => `line ${i + 1}`);

// Each command is a process, and one of them starts a database: this must also work on a slow
// machine.

const definitions = {
  quick: `
version: 1
jobs:
  quick: { commands: "echo quick > out; cat out", inputs: [], outputs: [out] }
`,
  counts: `
version: 1
jobs:
  counts: { commands: "seq -f 'number %.0f' 40000", inputs: [] }
`,
  long: `
version: 1
jobs:
  long: { commands: "sleep ${longSleep}", inputs: [] }
  after: { commands: "true", needs: [long], inputs: [] }
`,
  /** Prints continuously during the test, and ends only when the test allows it. */
  talking: (port: number) => `
version: 1
jobs:
  talking:
    commands: |
      i=1
      while [ $i -le ${talk.length} ]; do
        echo "line $i"
        i=$((i + 1))
        sleep 0.1
        [ $i -ne 30 ] || bash -c 'read -r _ < /dev/tcp/127.0.0.1/${port}' || :
      done
    inputs: []
    network: true
`,
};

let farm: Farm;
let repository: SampleRepository;

beforeAll(async () => {
  [farm, repository] = await Promise.all([
    startFarm(),
    sampleRepository({ ".grange/farm.yml": definitions.quick }),
  ]);
});
afterAll(async () => {
  await farm.stop();
  await repository.remove();
});

/** Runs a command against the farm, and parses its output with the API's schema. */
async function ask<Shape extends z.ZodType>(
  shape: Shape,
  ...args: string[]
): Promise<z.output<Shape>> {
  return shape.parse(await grangeJson([...args, "--server", farm.url]));
}

async function submit(text: string, ...args: string[]): Promise<string> {
  await repository.commit({ ".grange/farm.yml": text });
  const submitted = ["submit", "--repo", repository.path, ...args];
  return (await ask(SubmittedGraph, ...submitted)).id;
}

test("submit --wait, status, runs, logs and workers show the same graph in the API's formats", async () => {
  const { id } = await ask(GraphSummary, "submit", "--repo", repository.path, "--wait");
  const graph = await ask(Graph, "status", id);

  expect(graph).toMatchObject({ state: "succeeded", jobList: [{ name: "quick" }] });
  expect(await ask(z.array(GraphSummary), "status")).toMatchObject([{ id: graph.id }]);
  expect(await ask(Graph, "status", "latest")).toEqual(graph);
  expect(await ask(Graph, "status", graph.id.slice(0, 8))).toEqual(graph);
  expect(await ask(z.array(Run), "runs", "latest", "quick")).toMatchObject([
    { number: 1, outcome: "succeeded", worker: "worker-1", outputs: [{ path: "out" }] },
  ]);
  expect(await grangeJson(["logs", "latest", "quick", "--server", farm.url])).toEqual({
    graph: graph.id,
    job: "quick",
    run: 1,
    text: expect.stringMatching(/^quick$/m),
  });
  expect(await ask(z.array(Worker), "workers")).toMatchObject([
    { name: "worker-1", state: "idle", finishedCount: 1, running: [] },
  ]);
});

test("logs prints some lines of a long log: a range, the end, or those with a text", async () => {
  const id = await submit(definitions.counts);
  await farm.untilOver(id);
  const logs = async (...args: string[]) => {
    const { stdout } = await runGrange(["logs", id, "counts", ...args, "--server", farm.url]);
    return stdout;
  };
  const all = await logs();
  const lines = all.split("\n").slice(0, -1);
  const where = lines.indexOf("number 20000") + 1;

  expect(await logs("--from", String(where), "--lines", "2")).toBe("number 20000\nnumber 20001\n");
  expect(await logs("--tail", "2")).toBe("number 39999\nnumber 40000\n");
  expect(await logs("--search", "NUMBER 2000")).toBe(
    lines
      .flatMap((line, at) => (line.startsWith("number 2000") ? [`${at + 1}: ${line}\n`] : []))
      .join(""),
  );
  expect(await logs("--from", "999999")).toBe("");
  const both = await runGrange(["logs", id, "counts", "--tail", "2", "--from", "3"]);
  expect(both.stderr).toContain("choose different lines");
});

test("cancel ends a running job and its processes, and the graph with it", async () => {
  const id = await submit(definitions.long);
  await farm.until(id, (graph) => graph.jobList.some((job) => job.state === "running"));
  expect(await ask(z.array(Worker), "workers")).toMatchObject([
    { state: "busy", running: [{ graphId: id, job: "long" }] },
  ]);
  expect(await processesWith(longSleep)).not.toEqual([]);

  await ask(GraphSummary, "cancel", id);

  const graph = await farm.untilOver(id);
  expect(graph.state).toBe("cancelled");
  expect((await farm.job(id, "long")).runList).toMatchObject([{ outcome: "cancelled" }]);
  await untilNoProcessWith(longSleep);
});

test("cancel of one job skips the jobs that need it", async () => {
  const id = await submit(definitions.long);
  await farm.until(id, (graph) => graph.jobList.some((job) => job.state === "running"));

  await ask(JobSummary, "cancel", id, "long");

  const { jobList } = await farm.untilOver(id);
  expect(Object.fromEntries(jobList.map(({ name, state }) => [name, state]))).toEqual({
    long: "cancelled",
    after: "unreachable",
  });
  await untilNoProcessWith(longSleep);
});

/** Opens a port on which connections wait until the test opens the gate. */
async function gate() {
  const waiting: Socket[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => {});
    waiting.push(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    open() {
      // Later connections are refused, and the job then continues, too.
      server.close();
      for (const socket of waiting) socket.end();
    },
  };
}

test.each([
  ["stays", async () => {}],
  [
    "is restarted",
    async () => {
      farm.server.signal("SIGTERM");
      await farm.restartServer();
    },
  ],
  [
    "is killed and started again",
    async () => {
      farm.server.signal("SIGKILL");
      await farm.restartServer();
    },
  ],
] as const)(
  "logs -f shows lines while the job runs, each of them once, when the server %s",
  async (_, disturb) => {
    const held = await gate();
    const id = await submit(definitions.talking(held.port), "--no-cache");
    await farm.untilLogged(id, "talking", "line 1");
    const follower = startGrange(["logs", id, "talking", "-f", "--server", farm.url]);
    await follower.line((line) => line === "line 3");
    expect((await farm.graph(id)).state).toBe("running");

    await disturb();
    held.open();

    const { code, stdout } = await follower.finished;
    expect(code).toBe(0);
    expect(stdout.split("\n").filter((line) => /^line \d+$/.test(line))).toEqual(talk);
    expect((await farm.untilOver(id)).state).toBe("succeeded");
    const { stdout: stored } = await runGrange(["logs", id, "talking", "--server", farm.url]);
    expect(stdout).toBe(stored);
    expect((await farm.job(id, "talking")).runList).toMatchObject([{ number: 1, attempt: 1 }]);
  },
);

test("doctor finds the farm and its worker, and describes how to correct each problem", async () => {
  const { stdout } = await runGrange(["doctor", "--json", "--server", farm.url], {
    cwd: repository.path,
  });

  const answer = z
    .object({
      summary: z.object({ ok: z.number(), warn: z.number(), fail: z.number() }),
      checks: z.array(
        z.object({
          group: z.string(),
          name: z.string(),
          status: z.enum(["ok", "warn", "fail"]),
          detail: z.string(),
          fix: z.string().nullable(),
        }),
      ),
    })
    .parse(JSON.parse(stdout));
  const check = (name: string) => answer.checks.find((each) => each.name === name);
  expect(check("server")).toMatchObject({ status: "ok" });
  expect(check("workers")).toMatchObject({ status: "ok" });
  expect(check("definitions")).toMatchObject({ status: "ok" });
  expect(answer.checks.filter((each) => (each.fix === null) !== (each.status === "ok"))).toEqual(
    [],
  );
});
