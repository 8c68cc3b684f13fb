import { Link } from "@tanstack/react-router";
import type { JobSummary } from "#api/graph.ts";
import type { WaitingReason } from "#api/waiting.ts";
import { Ago } from "./times.tsx";
import { useWaiting } from "./use-waiting.ts";

interface Props {
  readonly graphId: string;
  readonly job: JobSummary;
}

/** Why a job does not run, and what would help; of one that does not wait, what its graph says of it. */
export function WhyNotRunning({ graphId, job }: Props) {
  const waiting = useWaiting(graphId, job);
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
          It moves when{" "}
          <Link to="/graphs/$id/jobs/$name" params={{ id: graphId, name: waiting.root.name }}>
            {waiting.root.name}
          </Link>{" "}
          does.
        </p>
      );
    case "person":
      return waiting.message === null ? null : <blockquote>{waiting.message}</blockquote>;
    case "capacity-none":
      return waiting.lastSeenAt === null ? null : (
        <p className="faint">
          One was heard of last <Ago time={waiting.lastSeenAt} />.
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
