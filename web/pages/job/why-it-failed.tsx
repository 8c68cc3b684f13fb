import { queryOptions, useQuery } from "@tanstack/react-query";
import { graphEndpoints } from "#api/endpoints/graph-endpoints.ts";
import type { JobDetail } from "#api/graph.ts";
import { call } from "../../farm/ask.ts";
import { FailureDetails, howItEnded } from "../../parts/failure-of-job.tsx";

/** The answer changes when the job is run again: then its version changes. */
const failureQuery = ({ graph, job }: JobDetail) =>
  queryOptions({
    queryKey: ["job", graph.id, job.name, "failure", job.version],
    queryFn: ({ signal }) =>
      call(
        graphEndpoints.graphFailures,
        { params: { graph: graph.id }, query: { job: job.name } },
        signal,
      ),
    placeholderData: (before) => before,
  });

/** Why a failed job failed, since when, and what one can do. Retrigger and bisect are in the header. */
export function WhyItFailed({ detail }: { readonly detail: JobDetail }) {
  const { data, error } = useQuery(failureQuery(detail));
  if (error !== null) {
    return (
      <p role="alert" className="problem">
        The failure could not be loaded: {error.message}
      </p>
    );
  }
  const failure = data?.failures[0];
  if (failure === undefined) return null;
  const ended = howItEnded(failure);
  return (
    <section className="what-failed" aria-label="What failed" tabIndex={0}>
      <h2>What failed {ended === "" ? null : <span className="faint">{ended}</span>}</h2>
      <FailureDetails graph={detail.graph} failure={failure}>
        {null}
      </FailureDetails>
    </section>
  );
}
