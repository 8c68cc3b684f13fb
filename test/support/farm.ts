import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Graph, GraphSummary, JobDetail } from "#api/graph.ts";
import type { SubmitGraph } from "#api/submit-graph.ts";
import { copyCluster, linkCluster, removeWithCluster } from "./prepared-cluster.ts";
import { type Program, startProgram } from "./process.ts";

/** The built program: faults are injected into the program that users run. */
export const grange = join(import.meta.dirname, "..", "..", "dist", "grange.js");

/** What clients of a farm do with one address, which may be that of a load balancer. */
export interface FarmClient {
  readonly url: string;
  submit(request: SubmitGraph): Promise<GraphSummary>;
  graph(id: string): Promise<Graph>;
  job(graphId: string, name: string): Promise<JobDetail>;
  log(graphId: string, job: string, run?: number): Promise<string>;
  /** Reads a graph's events until `reached`, and reconnects after lost connections. */
  until(id: string, reached: (graph: Graph) => boolean): Promise<Graph>;
  /** Waits until a job's first run has started and printed `text`. */
  untilLogged(id: string, job: string, text: string): Promise<void>;
  untilOver(id: string): Promise<Graph>;
}

/** A farm of real processes: a server with its PostgreSQL, and workers. */
export interface Farm extends FarmClient {
  readonly dataDir: string;
  server: Program;
  readonly workers: Program[];
  /** Starts the server again on the same port and data. */
  restartServer(): Promise<void>;
  startWorker(options?: WorkerOptions): Program;
  stop(): Promise<void>;
}

interface WorkerOptions {
  readonly name?: string;
  readonly sizeClass?: number;
  /** Another address of the server, such as a proxy's. */
  readonly server?: string;
  /** Directories that jobs do not see. */
  readonly hide?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The worker's single file, where the checkout is closed to the worker's user. */
  readonly file?: string;
  /** A program with arguments; it runs the worker's command line, which follows them. */
  readonly within?: readonly string[];
  /** The name of its data directory in that of the farm; usually all workers share one. */
  readonly data?: string;
}

export interface FarmOptions {
  readonly workers?: number;
  readonly dataDir?: string;
  /** Whether the files of PostgreSQL are in the data directory, as a user's are, and not elsewhere in memory. */
  readonly keepsCluster?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** A program with arguments; it runs the server's command line, which follows them. */
  readonly serverWithin?: readonly string[];
}

export async function startFarm(options: FarmOptions = {}): Promise<Farm> {
  const ownDir = options.dataDir === undefined;
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), "grange-farm-")));
  if (options.env?.["GRANGE_DATABASE_URL"] === undefined) {
    const isElsewhere = ownDir && options.keepsCluster !== true;
    await (isElsewhere ? linkCluster(dataDir) : copyCluster(dataDir));
  }
  let server = startServer(dataDir, 0, options);
  const url = await readyUrl(server);
  const port = Number(new URL(url).port);
  const workers: Program[] = [];

  const farm: Farm = {
    ...farmClient(url),
    dataDir,
    get server() {
      return server;
    },
    workers,
    async restartServer() {
      await server.finished;
      server = startServer(dataDir, port, options);
      await readyUrl(server);
    },
    startWorker(worker = {}) {
      const {
        name = `worker-${workers.length + 1}`,
        sizeClass,
        hide = [],
        env = {},
        within = [],
      } = worker;
      const [program = "", ...args] = [
        ...within,
        process.execPath,
        ...(worker.file === undefined ? [grange, "worker"] : [worker.file]),
        "--server",
        worker.server ?? url,
        "--name",
        name,
        // A worker without a class uses its whole machine.
        ...(sizeClass === undefined ? [] : ["--size-class", String(sizeClass)]),
        "--data",
        join(dataDir, worker.data ?? "workers"),
        ...hide.flatMap((dir) => ["--hide", dir]),
      ];
      const started = startProgram(program, args, { env });
      workers.push(started);
      return started;
    },
    async stop() {
      for (const worker of workers) worker.signal("SIGTERM");
      await Promise.all(workers.map((worker) => worker.finished));
      server.signal("SIGTERM");
      await server.finished;
      if (ownDir) await removeWithCluster(dataDir);
    },
  };
  for (let i = 0; i < (options.workers ?? 1); i++) farm.startWorker();
  return farm;
}

export function farmClient(url: string): FarmClient {
  return {
    url,
    submit: async (request) => (await call<{ graph: GraphSummary }>(url, "/graphs", request)).graph,
    graph: (id) => call(url, `/graphs/${id}`),
    job: (id, name) => call(url, `/graphs/${id}/jobs/${encodeURIComponent(name)}`),
    async log(id, name, run = 1) {
      const path = `/graphs/${id}/jobs/${encodeURIComponent(name)}/runs/${run}/log`;
      return (await fetch(`${url}/api/v1${path}`)).text();
    },
    until: (id, reached) => until(url, id, reached),
    async untilLogged(id, name, text) {
      await until(url, id, (graph) =>
        graph.jobList.some((job) => job.name === name && job.startedAt !== null),
      );
      const path = `/graphs/${id}/jobs/${encodeURIComponent(name)}/runs/1/log/events`;
      const events = await fetch(`${url}/api/v1${path}`);
      let seen = "";
      for await (const chunk of events.body ?? []) {
        seen += Buffer.from(chunk).toString();
        if (seen.includes(text)) return;
      }
      throw new Error(`${name} ended and never printed ${text}:\n${seen}`);
    },
    untilOver: (id) => until(url, id, (graph) => graph.state !== "running"),
  };
}

function startServer(
  dataDir: string,
  port: number,
  { env = {}, serverWithin = [] }: FarmOptions,
): Program {
  const server = [grange, "server", "--data", dataDir, "--port", String(port)];
  const [within, ...outer] = serverWithin;
  if (within === undefined) return startProgram(process.execPath, server, { env });
  return startProgram(within, [...outer, process.execPath, ...server], { env });
}

export async function readyUrl(server: Program): Promise<string> {
  const line = await server.line((each) => each.startsWith('{"ready":true'));
  return (JSON.parse(line) as { url: string }).url.replace(/\/$/, "");
}

async function call<T>(url: string, path: string, body?: unknown): Promise<T> {
  const posting: RequestInit = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  const answer = await fetch(`${url}/api/v1${path}`, body === undefined ? {} : posting);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`);
  return JSON.parse(text) as T;
}

/** Checks on each event of the graph's stream; waits for a lost server. */
async function until(url: string, id: string, reached: (graph: Graph) => boolean): Promise<Graph> {
  for (;;) {
    try {
      const graph = await call<Graph>(url, `/graphs/${id}`);
      if (reached(graph)) return graph;
      const leave = new AbortController();
      const events = await fetch(`${url}/api/v1/graphs/${id}/events?since=${graph.version}`, {
        signal: leave.signal,
      });
      for await (const chunk of events.body ?? []) {
        if (new TextDecoder().decode(chunk).includes("data:")) break;
      }
      leave.abort();
      if (graph.state !== "running") {
        throw new Error(`graph ${id} ended ${graph.state} before what was waited for`);
      }
    } catch (cause) {
      if (cause instanceof Error && /before what was waited for|answered 4/.test(cause.message)) {
        throw cause;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
