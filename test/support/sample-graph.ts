import type { Edge, Graph, GraphSummary, JobSummary } from "#api/graph.ts";

/** The first instant of sample graphs; offsets are milliseconds from it. */
const zero = Date.parse("2026-01-01T00:00:00Z");

export function sampleTime(ms: number): string {
  return new Date(zero + ms).toISOString();
}

export function sampleJob(job: Partial<JobSummary> & { readonly name: string }): JobSummary {
  return {
    kind: "command",
    state: "blocked",
    version: 1,
    tags: {},
    runs: 0,
    cached: false,
    stale: false,
    customised: false,
    reason: null,
    readyAt: null,
    startedAt: null,
    finishedAt: null,
    ...job,
  };
}

/** Returns a succeeded job that was ready at `from` and ran until `to`, ms. */
export function sampleEnded(name: string, from: number, to: number): JobSummary {
  return sampleJob({
    name,
    state: "succeeded",
    runs: 1,
    readyAt: sampleTime(from),
    startedAt: sampleTime(from),
    finishedAt: sampleTime(to),
  });
}

export function sampleEdges(...pairs: readonly (readonly [job: string, on: string])[]): Edge[] {
  return pairs.map(([job, on]) => ({
    job,
    on,
    condition: "success",
    status: "open",
    waived: null,
  }));
}

export function sampleGraph(
  jobs: readonly JobSummary[],
  edges: readonly Edge[] = [],
  also: Partial<GraphSummary> = {},
): Graph {
  return {
    id: "3f2a0000-0000-4000-8000-000000000000",
    repository: "here",
    project: "default",
    commit: "c".repeat(40),
    rev: "HEAD",
    subject: "Begin",
    author: "Ada",
    committedAt: sampleTime(0),
    catalog: "catalog",
    set: "3f2a0000-0000-4000-8000-000000000000",
    setName: null,
    templates: null,
    customised: 0,
    idleMs: 0,
    parent: null,
    branch: "main",
    priority: 0,
    top: false,
    submittedBy: "anyone",
    state: "running",
    version: 1,
    jobs: jobs.length,
    counts: {},
    createdAt: sampleTime(0),
    finishedAt: null,
    ...also,
    jobList: [...jobs],
    edges: [...edges],
  };
}
