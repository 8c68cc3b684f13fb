import { Link } from "@tanstack/react-router";
import type { Graph, JobSummary } from "#api/graph.ts";
import { shownText } from "../../parts/shown-text.ts";
import { StateIcon } from "../../parts/state.tsx";
import { useWaiting } from "../../parts/why-not-running.tsx";

/** Why nothing of a graph runs, and what to do, if no worker can run its first queued job. */
export function NoWorker({ graph }: { readonly graph: Graph }) {
  const isAnyRunning = graph.jobList.some(({ state }) => state === "running");
  const queued = graph.jobList.find(({ state }) => state === "queued");
  if (isAnyRunning || queued === undefined) return null;
  return <NoWorkerFor graphId={graph.id} job={queued} />;
}

function NoWorkerFor({ graphId, job }: { readonly graphId: string; readonly job: JobSummary }) {
  const waiting = useWaiting(graphId, job);
  if (waiting?.kind !== "capacity-none" && waiting?.kind !== "capacity-size") return null;
  return (
    <section className="what-waits" aria-label="What waits for a worker">
      <StateIcon state="queued" silent />{" "}
      <Link to="/graphs/$id/jobs/$name" params={{ id: graphId, name: job.name }}>
        {shownText(job.name)}
      </Link>{" "}
      {waiting.sentence}.{waiting.advice === null ? "" : ` What to do: ${waiting.advice}.`}
    </section>
  );
}
