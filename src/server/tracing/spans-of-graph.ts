import type { EndedGraph } from "#graphs/graph-span.store.ts";
import { spanIdOfJob } from "#graphs/job-span.ts";
import { type EndedSpan, placeBelow } from "#tracing/tracing.ts";

type Job = EndedGraph["jobs"][number];

/**
 * Returns the spans of a graph that has ended: the graph, its jobs below it, and below each job the time that the
 * server took to prepare it. Executions were recorded when they ended.
 *
 * Of a graph that ran again, only the jobs that ran meanwhile are returned: its own span was sent before.
 */
export function spansOfGraph(graph: EndedGraph): EndedSpan[] {
  const jobs = graph.jobs.flatMap((job) => spansOfJob(graph, job));
  if (graph.sentUntil !== null) return jobs;
  const own: EndedSpan = {
    place: graph.place,
    name: "graph",
    kind: "server",
    // Clocks of servers and of the database may differ by some ms; a graph contains its jobs.
    startMs: Math.min(graph.startedAt.getTime(), ...jobs.map(({ startMs }) => startMs)),
    endMs: Math.max(graph.finishedAt.getTime(), ...jobs.map(({ endMs }) => endMs)),
    attributes: {
      "grange.graph.id": graph.id,
      "grange.project": graph.project,
      "grange.commit": graph.commit,
      "grange.state": graph.state,
    },
    failure: graph.state === "failed" ? "failed" : undefined,
  };
  return [own, ...jobs];
}

function spansOfJob(graph: EndedGraph, job: Job): EndedSpan[] {
  const { queuedAt, readyAt, finishedAt } = job;
  if (queuedAt === null || finishedAt === null) return [];
  const queuedMs = queuedAt.getTime();
  const readyMs = Math.min(readyAt?.getTime() ?? queuedMs, queuedMs);
  const { traceId, spanId } = graph.place;
  const place = {
    traceId,
    spanId: spanIdOfJob({ graphId: graph.id, job: job.name }),
    parentId: spanId,
  };
  return [
    {
      place,
      name: "job",
      startMs: readyMs,
      endMs: finishedAt.getTime(),
      attributes: {
        "grange.graph.id": graph.id,
        "grange.job": job.name,
        "grange.job.kind": job.kind,
        "grange.state": job.state,
        "grange.runs": job.runs,
        "grange.cached": job.cached,
      },
      failure: job.state === "failed" ? "failed" : undefined,
    },
    {
      place: placeBelow(place),
      name: "prepare",
      startMs: readyMs,
      endMs: queuedMs,
    },
  ];
}
