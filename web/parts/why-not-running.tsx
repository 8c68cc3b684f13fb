import { queryOptions, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { jobEndpoints } from "#api/endpoints/job-endpoints.ts";
import type { JobSummary } from "#api/graph.ts";
import type { WaitingReason } from "#api/waiting.ts";
import { call } from "../farm/ask.ts";
import { Ago } from "./times.tsx";

/** Others in the queue move without an event in the graph's stream. */
const refetchMs = 5_000;

const waitingQuery = (graph: string, job: JobSummary, known: WaitingReason | null | undefined) =>
  queryOptions({
    queryKey: ["waiting", graph, job.name, job.version],
    queryFn: ({ signal }) =>
      call(jobEndpoints.jobWaiting, { params: { graph, job: job.name } }, signal),
    enabled: isWaiting(job),
    refetchInterval: refetchMs,
    ...(known === undefined ? {} : { initialData: { waiting: known } }),
  });

interface Props {
  readonly graphId: string;
  readonly job: JobSummary;
  /** What the farm has just answered, if it was requested with the job. */
  readonly known?: WaitingReason | null;
}

/** Why a job does not run, and the remedy; for a job that does not wait, the reason in its graph. */
export function WhyNotRunning({ graphId, job, known }: Props) {
  const waiting = useWaiting(graphId, job, known);
  if (waiting === null) return job.reason === null ? null : <p>{job.reason}</p>;
  return (
    <section className="why-not-running" aria-label="Why it does not run" aria-live="polite">
      <p>{waiting.sentence}</p>
      <Detail graphId={graphId} waiting={waiting} />
      {waiting.advice === null ? null : <p className="faint">{waiting.advice}</p>}
    </section>
  );
}

function Detail({ graphId, waiting }: { graphId: string; waiting: WaitingReason }) {
  switch (waiting.kind) {
    case "dependency":
      return waiting.root === null ? null : (
        <p className="faint">
          It can continue when{" "}
          <Link to="/graphs/$id/jobs/$name" params={{ id: graphId, name: waiting.root.name }}>
            {waiting.root.name}
          </Link>{" "}
          continues.
        </p>
      );
    case "person":
      return waiting.message === null ? null : <blockquote>{waiting.message}</blockquote>;
    case "capacity-none":
      return waiting.lastSeenAt === null ? null : (
        <p className="faint">
          The last such worker was available <Ago time={waiting.lastSeenAt} />.
        </p>
      );
    case "time":
    case "outside":
    case "preparing":
    case "capacity-size":
    case "capacity-busy":
    case "limit":
    case "priority":
    case "starting":
      return null;
  }
}

function isWaiting({ state }: JobSummary): boolean {
  return state === "blocked" || state === "waiting" || state === "ready" || state === "queued";
}

/** Returns why a job does not run; null when it runs, has ended, or the farm has not answered yet. */
export function useWaiting(
  graph: string,
  job: JobSummary,
  known?: WaitingReason | null,
): WaitingReason | null {
  const { data } = useQuery(waitingQuery(graph, job, known));
  return isWaiting(job) ? (data?.waiting ?? null) : null;
}
