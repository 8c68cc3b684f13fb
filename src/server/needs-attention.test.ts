import { describe, expect, test } from "vitest";
import type { GraphSummary } from "#api/graph.ts";
import type { Worker } from "#api/worker.ts";
import { needsAttention } from "./needs-attention.ts";

const graph = (over: Partial<GraphSummary>): GraphSummary => ({
  id: "1",
  repository: "app",
  project: "default",
  commit: "c".repeat(40),
  rev: "main",
  subject: "A change",
  author: "Ada",
  committedAt: "2026-01-01T00:00:00.000Z",
  catalog: "",
  templates: null,
  set: "1",
  setName: null,
  parent: null,
  branch: "main",
  priority: 0,
  top: false,
  submittedBy: "ada",
  state: "succeeded",
  version: 1,
  jobs: 1,
  customised: 0,
  counts: {},
  createdAt: "2026-01-01T00:00:00.000Z",
  finishedAt: null,
  idleMs: 0,
  ...over,
});

const worker = (over: Partial<Worker>): Worker => ({
  name: "w",
  platform: {},
  sizeClass: 1,
  slots: 1,
  cpus: null,
  memoryBytes: null,
  state: "idle",
  facilities: {},
  version: "",
  transport: "pull",
  host: "",
  principal: "w",
  quarantine: null,
  trouble: null,
  registeredAt: "2026-01-01T00:00:00.000Z",
  lastSeenAt: "2026-01-01T00:00:00.000Z",
  heldCount: 0,
  endingCount: 0,
  running: [],
  finishedCount: 0,
  ...over,
});

const store = {
  limitBytes: 1_000,
  counted: {
    at: "2026-01-01T00:00:00.000Z",
    blobs: 1,
    bytes: 900,
    youngBytes: 0,
    heldBytes: 0,
    overBytes: 0,
  },
  evicted: null,
  evictedInAll: { blobs: 0, bytes: 0, names: 0 },
  scrubbed: null,
};
const quietFarm = {
  workers: [worker({})],
  unserved: [],
  store,
  quarantinedResults: 0,
  benchmarkAlarms: [],
  failedBenchmarks: [],
};

const kindsOf = (graphs: GraphSummary[], farm: Parameters<typeof needsAttention>[0]["farm"]) =>
  needsAttention({ graphs, failedJobs: new Map(), failedBuilds: [], caller: "ada", farm }).map(
    ({ kind }) => kind,
  );

describe("needs attention", () => {
  test("nothing, when all is well", () => {
    expect(kindsOf([graph({})], quietFarm)).toEqual([]);
  });

  test("a failure, until a newer graph of its branch follows it", () => {
    const failed = graph({ id: "old", state: "failed" });
    const ofOtherBranch = graph({ id: "topic", branch: "topic" });

    expect(kindsOf([ofOtherBranch, failed], undefined)).toEqual(["failed graph"]);
    expect(kindsOf([graph({ id: "new" }), failed], undefined)).toEqual([]);
    expect(kindsOf([graph({ id: "new", state: "running" }), failed], undefined)).toEqual([]);
  });

  test("the caller's own failures first, with the names of the failed jobs", () => {
    const theirs = graph({ id: "2", branch: "b", state: "failed", submittedBy: "bob" });
    const own = graph({ id: "1", state: "failed" });
    const failedJobs = new Map([["1", ["unit"]]]);

    const items = needsAttention({
      graphs: [theirs, own],
      failedJobs,
      failedBuilds: [],
      caller: "ada",
      farm: undefined,
    });

    expect(items).toEqual([
      { kind: "failed graph", graph: own, failedJobs: ["unit"], isYours: true },
      { kind: "failed graph", graph: theirs, failedJobs: [], isYours: false },
    ]);
  });

  test("failed builds beside failed graphs, and failed benchmarks", () => {
    const build = {
      kind: "failed build" as const,
      project: "default",
      invocation: "i",
      title: "bazel test //...",
      principal: "ada",
      at: "2026-01-01T00:00:00.000Z",
      failedActions: [],
      isYours: true,
    };
    const benchmark = {
      kind: "failed benchmark" as const,
      request: "r",
      suite: "compile",
      artifact: "1.0",
      errors: 1,
      at: "2026-01-01T00:00:00.000Z",
    };
    const theirs = graph({ state: "failed", submittedBy: "bob" });

    const items = needsAttention({
      graphs: [theirs],
      failedJobs: new Map(),
      failedBuilds: [build],
      caller: "ada",
      farm: { ...quietFarm, failedBenchmarks: [benchmark] },
    });

    expect(items).toEqual([
      build,
      { kind: "failed graph", graph: theirs, failedJobs: [], isYours: false },
      benchmark,
    ]);
  });

  test("a graph with waiting jobs, while it runs", () => {
    const counts = { waiting: 2 };

    expect(kindsOf([graph({ state: "running", counts })], undefined)).toEqual(["waiting graph"]);
    expect(kindsOf([graph({ state: "cancelled", counts })], undefined)).toEqual([]);
  });

  test("workers that cannot work, the reason being the first of quarantine, loss and trouble", () => {
    const workers = [
      worker({ name: "a", state: "lost" }),
      worker({ name: "b", trouble: "no space left" }),
      worker({ name: "c", state: "lost", quarantine: "wrong results" }),
      worker({ name: "d", state: "draining" }),
    ];

    expect(kindsOf([], { ...quietFarm, workers })).toEqual([
      "lost worker",
      "worker in trouble",
      "quarantined worker",
    ]);
  });

  test("a store above its limit, corrupt blobs, results in quarantine, and alarms", () => {
    const counted = { ...store.counted, overBytes: 10 };
    const scrubbed = { at: store.counted.at, blobs: 9, bytes: 9, corrupt: 1 };

    expect(
      kindsOf([], {
        ...quietFarm,
        store: { ...store, counted, scrubbed },
        quarantinedResults: 2,
        benchmarkAlarms: ["a collector is silent"],
      }),
    ).toEqual(["full store", "corrupt blobs", "quarantined results", "benchmark alarm"]);
  });
});
