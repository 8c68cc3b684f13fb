import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { FailureOfJob } from "#api/failure-of-job.ts";
import type { Graph } from "#api/graph.ts";
import { FailureDetails, howItEnded } from "../../parts/failure-of-job.tsx";
import { shownText } from "../../parts/shown-text.ts";
import { StateIcon } from "../../parts/state.tsx";
import { ChangeButtons } from "./changes/change-buttons.tsx";
import { failuresQuery } from "./load.ts";

/** What failed in a graph, since when, and what one can do. The first failure is open. */
export function WhatFailed({ graph }: { graph: Graph }) {
  const { data, error } = useQuery(failuresQuery(graph));
  if (error !== null) {
    return (
      <p role="alert" className="problem">
        The failures could not be loaded: {error.message}
      </p>
    );
  }
  if (data === undefined) {
    // Has the place of a short failure, so that the page moves as little as possible when the failures arrive.
    return (
      <section className="what-failed is-loading" aria-label="What failed" aria-busy="true">
        <h2>What failed</h2>
        <p className="faint">Loading…</p>
      </section>
    );
  }
  if (data.failures.length === 0) return null;
  const { failures, more, skipped } = data;
  return (
    <section className="what-failed" aria-label="What failed" tabIndex={0}>
      <h2>What failed</h2>
      {failures.map((failure, index) => (
        <details key={failure.job} open={index === 0}>
          <summary>
            <StateIcon state="failed" silent /> <strong>{shownText(failure.job)}</strong>{" "}
            <span className="faint">{howItEnded(failure)}</span>
          </summary>
          <Failure graph={graph} failure={failure} />
        </details>
      ))}
      <p className="faint">
        {more === 0 ? null : `${more} more failed. `}
        {skipped === 0
          ? null
          : `${skipped} ${skipped === 1 ? "job was" : "jobs were"} skipped because of a failure.`}
      </p>
    </section>
  );
}

function Failure({ graph, failure }: { graph: Graph; failure: FailureOfJob }) {
  const { job, run } = failure;
  const summary = graph.jobList.find(({ name }) => name === job);
  return (
    <FailureDetails graph={graph} failure={failure}>
      <Link
        className="button"
        to="/graphs/$id/jobs/$name"
        params={{ id: graph.id, name: job }}
        search={run === 0 ? {} : { run }}
      >
        Open log
      </Link>
      {summary === undefined ? null : (
        <ChangeButtons
          graphId={graph.id}
          jobs={[summary]}
          target={{ jobs: [job] }}
          named={job}
          isChoice={false}
          hasKeys={false}
        />
      )}
    </FailureDetails>
  );
}
