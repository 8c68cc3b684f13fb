import type { FailureOfJob } from "#api/failure-of-job.ts";
import type { GraphSummary } from "#api/graph.ts";
import { FailureDetails, howItEnded } from "../../parts/failure-of-job.tsx";

interface Props {
  readonly graph: GraphSummary;
  readonly failure: FailureOfJob;
}

/** Why a failed job failed, since when, and what one can do. Retrigger and bisect are in the header. */
export function WhyItFailed({ graph, failure }: Props) {
  const ended = howItEnded(failure);
  return (
    <section className="what-failed" aria-label="What failed" tabIndex={0}>
      <h2>What failed {ended === "" ? null : <span className="faint">{ended}</span>}</h2>
      <FailureDetails graph={graph} failure={failure}>
        {null}
      </FailureDetails>
    </section>
  );
}
