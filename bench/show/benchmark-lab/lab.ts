import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { z } from "zod";
import { Comparison } from "#api/benchmark-comparison.ts";
import {
  BenchmarkSearchView,
  PushedSuite,
  type StartBenchmarkSearch,
} from "#api/benchmark-history.ts";
import {
  RequestDetail,
  type SubmitBenchmarkRequest,
  SubmittedRequest,
} from "#api/benchmark-request.ts";
import { type AddCollector, CollectorView } from "#api/collector.ts";
import { type Farm, type FarmOptions, grange, startFarm } from "../../../test/support/farm.ts";
import { type Program, startProgram } from "../../../test/support/process.ts";

/** A benchmark lab of real processes: a server with its PostgreSQL, and collectors. */
export interface Lab {
  readonly farm: Farm;
  readonly collectors: Map<string, Program>;
  push(definition: Readonly<Record<string, unknown>>): Promise<void>;
  addCollector(collector: AddCollector): Promise<void>;
  startCollector(name: string): Program;
  request(wanted: SubmitBenchmarkRequest): Promise<z.infer<typeof SubmittedRequest>>;
  detail(id: string): Promise<RequestDetail>;
  /** Polls until the request has ended, also while the server restarts. */
  untilEnded(id: string): Promise<RequestDetail>;
  compare(query: Readonly<Record<string, string>>): Promise<Comparison>;
  search(wanted: StartBenchmarkSearch): Promise<BenchmarkSearchView>;
  untilFound(id: string): Promise<BenchmarkSearchView>;
  get<Shape extends z.ZodType>(shape: Shape, path: string): Promise<z.output<Shape>>;
  post<Shape extends z.ZodType>(
    shape: Shape,
    path: string,
    body: unknown,
  ): Promise<z.output<Shape>>;
  stop(): Promise<void>;
}

const pollMs = 200;

export async function startLab(options: FarmOptions = {}): Promise<Lab> {
  const farm = await startFarm({ workers: 0, ...options });
  const work = await mkdtemp(join(tmpdir(), "grange-lab-"));
  const collectors = new Map<string, Program>();

  async function call<Shape extends z.ZodType>(
    shape: Shape,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<z.output<Shape>> {
    const response = await fetch(`${farm.url}/api/v1/benchmarks${path}`, {
      method,
      headers: { "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return shape.parse(JSON.parse(text));
  }
  const get: Lab["get"] = (shape, path) => call(shape, "GET", path);
  const post: Lab["post"] = (shape, path, body) => call(shape, "POST", path, body);

  /** A lost server's error is not an answer; a refusal is. */
  async function until<T>(read: () => Promise<T>, over: (value: T) => boolean): Promise<T> {
    for (;;) {
      try {
        const value = await read();
        if (over(value)) return value;
      } catch (cause) {
        if (cause instanceof Error && / answered 4\d\d/.test(cause.message)) throw cause;
      }
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
  }
  const detail = (id: string) => get(RequestDetail, `/requests/${id}`);
  const searchView = (id: string) => get(BenchmarkSearchView, `/searches/${id}`);

  return {
    farm,
    collectors,
    get,
    post,
    detail,
    async push(definition) {
      const path = `/suites/${encodeURIComponent(String(definition["suite"]))}`;
      await call(PushedSuite, "PUT", path, { definition });
    },
    async addCollector(collector) {
      await post(CollectorView, "/collectors", collector);
    },
    startCollector(name) {
      const program = startProgram(process.execPath, [
        grange,
        "collector",
        "run",
        name,
        "--server",
        farm.url,
        "--data-dir",
        join(work, name),
        "--flag-load",
      ]);
      collectors.set(name, program);
      return program;
    },
    request: (wanted) => post(SubmittedRequest, "/requests", wanted),
    untilEnded: (id) =>
      until(
        () => detail(id),
        ({ endedAt }) => endedAt !== null,
      ),
    compare: (query) => get(Comparison, `/compare?${new URLSearchParams(query).toString()}`),
    search: (wanted) => post(BenchmarkSearchView, "/searches", wanted),
    untilFound: (id) =>
      until(
        () => searchView(id),
        ({ state }) => state !== "running",
      ),
    async stop() {
      for (const collector of collectors.values()) collector.signal("SIGTERM");
      await Promise.all([...collectors.values()].map(({ finished }) => finished));
      await farm.stop();
      await rm(work, { recursive: true, force: true });
    },
  };
}
