import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { everybody, type Principal } from "#access/principal.ts";
import type { Graph, JobDetail } from "#api/graph.ts";
import type { SubmitGraph } from "#api/submit-graph.ts";
import { submitGraph } from "#graphs/submit-graph.ts";
import type { GraphOrigin } from "#graphs/submitting/submission.ts";
import { readServerConfig } from "#server/config.ts";
import type { Services } from "#server/services.ts";
import { startServer } from "#server/start-server.ts";
import { readWorkerConfig, type WorkerConfig } from "#worker/config.ts";
import { startWorker, type Worker } from "#worker/start-worker.ts";
import { copyCluster, linkCluster, removeWithCluster } from "./prepared-cluster.ts";

/**
 * A farm in this process: a real server with its own PostgreSQL on a real port, real workers with their sandboxes.
 *
 * For tests that use functions without an endpoint for clients, such as the graph of a pull request.
 */
export interface FarmHere {
  readonly url: string;
  readonly dataDir: string;
  readonly services: Services;
  startWorker(told?: Partial<WorkerConfig>): Promise<Worker>;
  /** Submits as the server does itself, with the ref in `origin`. Returns the graph's id. */
  submit(request: SubmitGraph, origin?: GraphOrigin, by?: Principal): Promise<string>;
  over(graph: string): Promise<Graph>;
  job(graph: string, name: string): Promise<JobDetail>;
  log(graph: string, name: string, run?: number): Promise<string>;
  /** Waits until the log of a job's first run contains the text. */
  untilLogged(graph: string, name: string, text: string): Promise<void>;
  /** Returns any response of the HTTP API. */
  ask(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
  stop(): Promise<void>;
}

const logger = pino({ level: "silent" });

/** The server's settings, and the initial number of workers. */
export type ToldHere = NonNullable<Parameters<typeof readServerConfig>[0]> & {
  readonly workers?: number;
  /** Whether the files of PostgreSQL are in the data directory, as a user's are, and not elsewhere in memory. */
  readonly keepsCluster?: boolean;
};

export async function startFarmHere(told: ToldHere = {}): Promise<FarmHere> {
  const { workers = 1, keepsCluster = false, ...config } = told;
  const top = await mkdtemp(join(tmpdir(), "grange-here-"));
  const dataDir = join(top, "server");
  if (config.databaseUrl === undefined)
    await (keepsCluster ? copyCluster(dataDir) : linkCluster(dataDir));
  const server = await startServer(
    // Repositories of tests are local paths, and users without the right to administer submit them.
    readServerConfig(
      { dataDir, host: "127.0.0.1", port: 0, localRepositories: tmpdir(), ...config },
      {},
    ),
    logger,
  );
  const { services } = server;
  const url = server.url.replace(/\/$/, "");
  const running: Worker[] = [];
  const ask: FarmHere["ask"] = (path, body, headers = {}) =>
    fetch(
      `${url}/api/v1${path}`,
      body === undefined
        ? { headers }
        : {
            method: "POST",
            headers: { "content-type": "application/json", ...headers },
            body: JSON.stringify(body),
          },
    );
  const read = async <T>(path: string): Promise<T> => {
    const answer = await ask(path);
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as T;
  };
  const runPath = (graph: string, name: string, run: number) =>
    `/graphs/${graph}/jobs/${encodeURIComponent(name)}/runs/${run}`;

  const here: FarmHere = {
    url,
    dataDir,
    services,
    ask,
    async startWorker(more = {}) {
      const worker = await startWorker(
        readWorkerConfig({
          server: url,
          name: `worker-${running.length + 1}`,
          dataDir: join(top, "worker"),
          slots: 2,
          killGraceMs: 300,
          drainMs: 100,
          hiddenPaths: [dataDir],
          ...more,
        }),
        logger,
      );
      running.push(worker);
      return worker;
    },
    async submit(request, origin = {}, by = everybody) {
      return (await submitGraph(services, request, by, origin)).graph.id;
    },
    over: (id) => until(url, id, read, (graph) => graph.state !== "running"),
    job: (graph, name) => read(`/graphs/${graph}/jobs/${encodeURIComponent(name)}`),
    async log(graph, name, run = 1) {
      return (await ask(`${runPath(graph, name, run)}/log`)).text();
    },
    async untilLogged(graph, name, text) {
      await until(url, graph, read, ({ jobList }) =>
        jobList.some((job) => job.name === name && job.startedAt !== null),
      );
      const events = await ask(`${runPath(graph, name, 1)}/log/events`);
      let seen = "";
      for await (const chunk of events.body ?? []) {
        seen += Buffer.from(chunk).toString();
        if (seen.includes(text)) return;
      }
      throw new Error(`${name} ended and never printed ${text}:\n${seen}`);
    },
    async stop() {
      await Promise.all(running.map((worker) => worker.stop()));
      await server.stop();
      await removeWithCluster(dataDir);
      await rm(top, { recursive: true, force: true });
    },
  };
  try {
    for (let i = 0; i < workers; i++) await here.startWorker();
  } catch (cause) {
    await here.stop();
    throw cause;
  }
  return here;
}

/** Checks on each event of the graph's stream. */
async function until(
  url: string,
  id: string,
  read: (path: string) => Promise<Graph>,
  reached: (graph: Graph) => boolean,
): Promise<Graph> {
  for (;;) {
    const graph = await read(`/graphs/${id}`);
    if (reached(graph)) return graph;
    if (graph.state !== "running") {
      throw new Error(`graph ${id} ended ${graph.state} before what was waited for`);
    }
    const leave = new AbortController();
    const events = await fetch(`${url}/api/v1/graphs/${id}/events?since=${graph.version}`, {
      signal: leave.signal,
    });
    for await (const chunk of events.body ?? []) {
      if (Buffer.from(chunk).includes("data:")) break;
    }
    leave.abort();
  }
}
