import type { Graph, JobDetail, JobSummary, Run } from "#api/graph.ts";
import type { JobPage } from "#api/job-page.ts";
import type { WaitingReason } from "#api/waiting.ts";
import { fakeFailures } from "./fake-failures.ts";

/** Returns all details of a job, derived from its summary: as many runs as it states, the last one with its state. */
export function madeUpJob(graph: Graph, job: JobSummary): JobDetail {
  const { jobList: _, edges: __, ...summary } = graph;
  const count = job.startedAt === null && !job.cached ? 0 : Math.max(1, job.runs);
  return {
    graph: summary,
    job,
    definition: {
      commands: [`npm run ${job.name.split("/")[0]}`],
      inputs: ["src/**", "package.json", "package-lock.json"],
      platform: { OSFamily: "linux", ISA: "x86-64" },
      limits: { memory: "2GiB", cpus: 2 },
      timeout: "10m",
      outputs: ["dist/**"],
      retries: 1,
      network: false,
    },
    priority: 0,
    origin: {
      revision: job.customised ? 1 : 0,
      template: null,
      patch: null,
      changes: [],
      lineage: { parent: summary.parent, children: [] },
      audit: [],
    },
    dependsOn: graph.edges.filter((edge) => edge.job === job.name),
    dependedOnBy: graph.edges.filter((edge) => edge.on === job.name),
    runList: Array.from({ length: count }, (_run, index) =>
      madeUpRun(graph, job, index + 1, index + 1 === count),
    ),
    chunks: null,
    notifications: [],
    madeGraphs: [],
    waiting: null,
  };
}

function madeUpRun(graph: Graph, job: JobSummary, number: number, last: boolean): Run {
  const finished = !last || job.finishedAt !== null;
  const outcome = !last ? "failed" : job.state === "failed" ? "failed" : "succeeded";
  const hash = graph.catalog.slice(0, 60) + String(1000 + job.name.length);
  return {
    number,
    cause: number === 1 ? "first" : "auto-retry",
    requestedBy: number === 1 ? "anyone" : null,
    why: null,
    servedBy: "execution",
    state: finished ? "finished" : job.state === "queued" ? "queued" : "running",
    outcome: finished ? outcome : null,
    exitCode: finished ? (outcome === "failed" ? 1 : 0) : null,
    message: outcome === "failed" && finished ? "the command exited with code 1" : null,
    actionDigest: `${hash}/142`,
    executionId: job.cached ? null : `x-${graph.id}-${job.name}-${number}`,
    cachedFrom: job.cached ? { graphId: "older", job: job.name, at: graph.createdAt } : null,
    attempt: 1,
    worker: job.cached ? null : "barn-2",
    wantedAt: graph.createdAt,
    readyAt: job.readyAt,
    dueAt: null,
    queuedAt: job.readyAt ?? graph.createdAt,
    startedAt: job.cached ? null : job.startedAt,
    finishedAt: job.finishedAt,
    failureClass: finished && outcome === "failed" ? "crash" : null,
    errorLines:
      finished && outcome === "failed" ? [{ line: 12, text: "error: it did not work" }] : [],
    numbers: finished ? { coverage: { value: 81.4, min: 80, max: null } } : {},
    userMs: finished && !job.cached ? 8_420 : null,
    systemMs: finished && !job.cached ? 1_130 : null,
    peakMemoryBytes: finished && !job.cached ? 412_000_000 : null,
    outputs:
      finished && outcome === "succeeded"
        ? [
            { path: "dist/index.html", kind: "file", digest: `${hash}/1824`, sizeBytes: 1_824 },
            { path: "dist/assets", kind: "directory", digest: `${hash}/310`, sizeBytes: null },
          ]
        : [],
  };
}

/** Returns what the page of a job opens with. */
export function madeUpJobPage(graph: Graph, detail: JobDetail): JobPage {
  const near = new Set([
    ...detail.dependsOn.map(({ on }) => on),
    ...detail.dependedOnBy.map(({ job }) => job),
  ]);
  return {
    detail: { ...detail, waiting: whyMadeUpJobWaits(detail.job) },
    neighbours: graph.jobList
      .filter(({ name }) => near.has(name))
      .map(({ name, state }) => ({ name, state })),
    failure: fakeFailures(graph, detail.job.name).failures[0] ?? null,
  };
}

/** Returns why a made-up job does not run. */
export function whyMadeUpJobWaits(job: JobSummary): WaitingReason | null {
  if (job.kind === "breakpoint" && job.state === "waiting") {
    return {
      kind: "person",
      sentence: "waits for a person to release it",
      advice: null,
      breakpoint: job.name,
      mayRelease: [],
      message: "Look at the screenshots first",
      until: null,
    };
  }
  if (job.reason === null) return null;
  if (job.state === "queued") {
    return {
      kind: "capacity-none",
      missing: null,
      silent: 0,
      draining: 0,
      lastSeenAt: null,
      sentence: job.reason,
      advice: "start such a worker",
    };
  }
  return {
    kind: "dependency",
    sentence: job.reason,
    advice: null,
    root: null,
    jobs: [],
    count: 0,
  };
}
