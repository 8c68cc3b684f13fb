import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { FailureOfJob } from "#api/failure-of-job.ts";
import type { GraphSummary } from "#api/graph.ts";
import { WhatChanged } from "./compared-actions.tsx";
import { Copyable } from "./copy.tsx";
import { FailureLog } from "./failure-log.tsx";
import { shownText } from "./shown-text.ts";
import { Ago } from "./times.tsx";

type GraphOfFailure = Pick<GraphSummary, "id" | "branch">;

/** Returns how a failed job ended, in a few words: `exit code 2, flaky: …`. */
export function howItEnded({ outcome, exitCode, because, flaky }: FailureOfJob): string {
  return [
    outcome === null || outcome === "failed" ? undefined : outcome.replaceAll("_", " "),
    exitCode === null || exitCode === 0 ? undefined : `exit code ${exitCode}`,
    because === null ? undefined : `after ${because} failed`,
    flaky ? "flaky: the same action has also succeeded" : undefined,
  ]
    .filter((part) => part !== undefined)
    .join(", ");
}

/** Since when a job fails, the end of its log, what changed, and what one can do. */
export function FailureDetails({
  graph,
  failure,
  children,
}: {
  readonly graph: GraphOfFailure;
  readonly failure: FailureOfJob;
  /** Buttons. */
  readonly children: ReactNode;
}) {
  const { job, message, log, executionId } = failure;
  return (
    <div className="failure">
      <SinceWhen graph={graph} failure={failure} />
      {message === null ? null : <p>{shownText(message)}</p>}
      {log === null ? null : <FailureLog log={log} of={job} />}
      {executionId === null ? null : <WhatChanged execution={executionId} />}
      <div className="button-row">
        {children}
        {executionId === null ? null : (
          <Copyable text={`grange reproduce ${executionId}`} label="command that runs it here" />
        )}
      </div>
    </div>
  );
}

function SinceWhen({ graph, failure }: { graph: GraphOfFailure; failure: FailureOfJob }) {
  const { lastPassed, firstFailed, graphsBetween, job } = failure;
  const first = <InGraph of={firstFailed} job={job} here={graph.id} />;
  if (lastPassed === null) {
    return (
      <p>
        It passed in no earlier graph of {graph.branch}. The first failure: {first}.
      </p>
    );
  }
  return (
    <p>
      Last passed: <InGraph of={lastPassed} job={job} here={graph.id} />. First failed: {first}.
      {graphsBetween === 0
        ? null
        : ` It did not run in the ${graphsBetween} ${graphsBetween === 1 ? "graph" : "graphs"} between.`}
    </p>
  );
}

function InGraph({
  of,
  job,
  here,
}: {
  of: FailureOfJob["firstFailed"];
  job: string;
  here: string;
}) {
  return (
    <>
      {of.id === here ? (
        "this graph"
      ) : (
        <Link to="/graphs/$id/jobs/$name" params={{ id: of.id, name: job }}>
          <code>{of.commit.slice(0, 8)}</code> {shownText(of.subject)}
        </Link>
      )}{" "}
      (<Ago time={of.at} />)
    </>
  );
}
