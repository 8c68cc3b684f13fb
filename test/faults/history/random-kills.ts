import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import fc from "fast-check";
import type { Graph } from "#api/graph.ts";
import { type Farm, startFarm } from "../../support/farm.ts";
import { type SampleRepository, sampleRepository } from "../../support/sample-repository.ts";
import { checkHistory, type Observation, type Violation } from "./history.ts";

const faults = ["server", "worker", "postmaster", "backend", "everything"] as const;
type Fault = (typeof faults)[number];

interface RandomKills {
  readonly violations: readonly Violation[];
  readonly graphs: number;
  readonly jobs: number;
  readonly kills: number;
  /** From each kill of the server, alone or with all other parts, until it answers again. */
  readonly readyAgainMs: readonly number[];
}

const jobsEach = 5;

/** Each execution has a different token, in its log and in its output. */
const definitions = `
version: 1
jobs:
${Array.from({ length: jobsEach }, (_, n) => {
  const needs = n === 0 ? "" : `\n    needs: [job-${n - 1}]`;
  return `  job-${n}:
    inputs: [round.txt]${needs}
    commands:
      - token=$(cat /proc/sys/kernel/random/uuid)
      - echo begin $token
      - sleep 0.2
      - echo $token > token.txt
      - echo end $token
    outputs: [token.txt]`;
}).join("\n")}
`;

/**
 * Kills random parts of a farm while graphs run, in the default sandbox, and checks its clients' observations.
 *
 * The seed determines the kills and their times; the farm's behaviour also depends on the machine.
 */
export async function killAtRandom(options: {
  readonly kills: number;
  readonly graphs: number;
  readonly seed: number;
}): Promise<RandomKills> {
  const farm = await startFarm({ workers: 2 });
  const repository = await sampleRepository({
    ".grange/farm.yml": definitions,
    "round.txt": "0\n",
  });
  try {
    const history: Observation[] = [];
    const ids: string[] = [];
    const submitting = (async () => {
      for (let n = 1; n <= options.graphs; n++)
        ids.push(await submitOne(farm, repository, n, history));
    })();
    const readyAgainMs: number[] = [];
    const plan = fc.sample(
      fc.tuple(fc.constantFrom(...faults), fc.integer({ min: 50, max: 1_500 })),
      {
        numRuns: options.kills,
        seed: options.seed,
      },
    );
    for (const [fault, pauseMs] of plan) {
      await delay(pauseMs);
      const ms = await kill(farm, fault);
      if (ms !== undefined) readyAgainMs.push(ms);
    }
    await submitting;
    for (const id of ids) await readToItsEnd(farm, id, history);
    return {
      violations: checkHistory(history),
      graphs: ids.length,
      jobs: ids.length * jobsEach,
      kills: options.kills,
      readyAgainMs,
    };
  } finally {
    await farm.stop();
    await repository.remove();
  }
}

/** Submits with an id of the client until the farm has accepted it, like a client that lost its connection. */
async function submitOne(
  farm: Farm,
  repository: SampleRepository,
  n: number,
  history: Observation[],
): Promise<string> {
  await repository.commit({ "round.txt": `${n}\n` });
  const id = crypto.randomUUID();
  const request = { repository: repository.path, id };
  await untilAnswered(() => farm.submit(request));
  history.push({ kind: "submitted", graph: id });
  return id;
}

const timeoutMs = 180_000;

async function readToItsEnd(farm: Farm, id: string, history: Observation[]): Promise<void> {
  const until = Date.now() + timeoutMs;
  for (;;) {
    const graph = await untilAnswered(() => farm.graph(id));
    history.push(observed(id, graph));
    if (graph.state !== "running") break;
    if (Date.now() > until) {
      history.push({ kind: "gave-up", graph: id });
      return;
    }
    await delay(200);
  }
  for (let n = 0; n < jobsEach; n++) {
    const job = `job-${n}`;
    const { runList } = await farm.job(id, job);
    const number = runList.at(-1)?.number ?? 1;
    const log = await farm.log(id, job, number);
    const answer = await fetch(
      `${farm.url}/api/v1/graphs/${id}/jobs/${job}/runs/${number}/outputs/token.txt`,
    );
    const output = answer.ok ? await answer.text() : undefined;
    history.push({ kind: "result", graph: id, job, log, output });
  }
}

function observed(id: string, graph: Graph): Observation {
  const jobs = Object.fromEntries(graph.jobList.map(({ name, state }) => [name, state]));
  return { kind: "read", graph: id, state: graph.state, jobs };
}

/** Repeats a request until there is a response other than "temporarily unavailable". */
async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  const until = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await ask();
    } catch (reason) {
      if (Date.now() > until) throw reason;
      await delay(100);
    }
  }
}

/** Returns the time until the server answered again, if it was killed. */
async function kill(farm: Farm, fault: Fault): Promise<number | undefined> {
  switch (fault) {
    case "server":
      return restartServer(farm);
    case "worker":
      await replaceWorker(farm);
      return undefined;
    case "postmaster":
      signal(await postmaster(farm));
      return undefined;
    case "backend":
      signal(await oneBackend(farm));
      return undefined;
    case "everything": {
      signal(await postmaster(farm));
      const workers = farm.workers.map(() => replaceWorker(farm));
      const ms = await restartServer(farm);
      await Promise.all(workers);
      return ms;
    }
  }
}

async function restartServer(farm: Farm): Promise<number> {
  const killed = performance.now();
  farm.server.signal("SIGKILL");
  await farm.restartServer();
  return performance.now() - killed;
}

async function replaceWorker(farm: Farm): Promise<void> {
  const worker = farm.workers.shift();
  worker?.signal("SIGKILL");
  await worker?.finished;
  farm.startWorker({ name: `worker-${crypto.randomUUID().slice(0, 8)}` });
}

async function postmaster(farm: Farm): Promise<number | undefined> {
  const lock = join(farm.dataDir, "pgdata", "postmaster.pid");
  const pid = Number.parseInt(await readFile(lock, "utf8").catch(() => ""), 10);
  return Number.isInteger(pid) ? pid : undefined;
}

/** Returns any process of PostgreSQL for a connection or a background task. */
async function oneBackend(farm: Farm): Promise<number | undefined> {
  const pid = await postmaster(farm);
  if (pid === undefined) return undefined;
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
  return children.split(" ").map(Number).filter(Boolean).at(-1);
}

/** It may have ended already. */
function signal(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process does not exist any more.
  }
}
