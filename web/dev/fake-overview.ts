import type { AttentionItem, Overview } from "#api/overview.ts";
import type { FakeFarm } from "./fake-farm.ts";

const newestShown = 12;

/** The overview of a made-up farm: its newest graphs, those that failed, and one item of each other kind. */
export function fakeOverview(farm: FakeFarm): Overview {
  const graphs = [...farm.graphs.values()].toSorted((a, b) =>
    b.createdAt.localeCompare(a.createdAt),
  );
  const failed = graphs
    .filter(({ state }) => state === "failed")
    .slice(0, 2)
    .map(
      (graph): AttentionItem => ({
        kind: "failed graph",
        graph,
        failedJobs: graph.jobList
          .filter(({ state }) => state === "failed")
          .slice(0, 3)
          .map(({ name }) => name),
        isYours: true,
      }),
    );
  const [first] = graphs;
  const others: AttentionItem[] = [
    {
      kind: "failed build",
      project: "default",
      invocation: "failed-one",
      title: "bazel test //lib/... //app:all",
      principal: "ada",
      at: "2026-01-01T00:00:00.000Z",
      failedActions: [
        {
          executionId: "00000000-0000-4000-8000-000000000001",
          target: "//lib/store:store",
          mnemonic: "CppCompile",
        },
      ],
      isYours: false,
    },
    {
      kind: "failed benchmark",
      request: "11111111-0000-4000-8000-000000010001",
      suite: "typescript",
      artifact: "6.1.0-dev.20260101",
      errors: 2,
      at: "2026-01-01T00:00:00.000Z",
    },
    ...(first === undefined ? [] : [{ kind: "waiting graph" as const, graph: first, jobs: 1 }]),
    {
      kind: "executions without a worker",
      count: 3,
      first: "00000000-0000-4000-8000-000000000002",
      reason:
        "it asks for gpu=a100, and no worker offers gpu; start a worker that offers gpu=a100, or change what the action asks for",
    },
    { kind: "lost worker", worker: "barn-9", lastSeenAt: "2026-01-01T00:00:00.000Z" },
    { kind: "worker in trouble", worker: "barn-8", reason: "no space left on the disk of /work" },
    { kind: "quarantined worker", worker: "barn-7", reason: "it reported results of others" },
    { kind: "quarantined results", results: 3 },
    { kind: "full store", overBytes: 2_000_000_000, limitBytes: 50_000_000_000 },
    { kind: "corrupt blobs", blobs: 1, at: "2026-01-01T00:00:00.000Z" },
    { kind: "benchmark alarm", alarm: "no collector is in duty for the suite compile" },
  ];
  const slots = farm.workers.reduce((sum, worker) => sum + worker.slots, 0);
  return {
    attention: graphs.length === 0 ? [] : [...failed, ...others],
    graphs: graphs.slice(0, newestShown),
    farm: {
      workers: farm.workers.length,
      slots,
      busySlots: Math.min(1, slots),
      queued: 4,
      week: { requested: 1_200, hits: 1_100, savedMs: 5_400_000 },
    },
  };
}
