import { queryOptions, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { ActionComparison, ComparedAction } from "#api/action-comparison.ts";
import { executionEndpoints } from "#api/endpoints/execution-endpoints.ts";
import { call } from "../farm/ask.ts";
import { Differences } from "./action-differences.tsx";
import { shownText } from "./shown-text.ts";
import { Ago } from "./times.tsx";
import "./compared-actions.css";

const comparisonQuery = (execution: string, before: string | undefined) =>
  queryOptions({
    queryKey: ["execution", execution, "comparison", before ?? ""],
    queryFn: ({ signal }) =>
      call(
        executionEndpoints.executionComparison,
        { params: { execution }, query: { with: before } },
        signal,
      ),
    // Both have ended.
    staleTime: Number.POSITIVE_INFINITY,
  });

interface Compared {
  readonly execution: string;
  /** The execution to compare with; default: the last success of the same job or target. */
  readonly before?: string;
}

/** What changed since an earlier execution. It is read when a person opens it. */
export function WhatChanged({ execution, before }: Compared) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="changed-since" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {before === undefined ? "What changed since it last succeeded" : "What changed"}
      </summary>
      {isOpen ? (
        <Comparison execution={execution} {...(before === undefined ? {} : { before })} />
      ) : null}
    </details>
  );
}

function Comparison({ execution, before }: Compared) {
  const { data, error } = useQuery(comparisonQuery(execution, before));
  if (error !== null) {
    return (
      <p role="alert" className="problem">
        The comparison could not be loaded: {error.message}
      </p>
    );
  }
  if (data === undefined) return <p className="faint">Comparing…</p>;
  return <ComparedActions comparison={data} />;
}

/** How two actions differ: workers, input files, command. */
function ComparedActions({ comparison }: { readonly comparison: ActionComparison }) {
  const { after, before, differences } = comparison;
  if (before === null || differences === null)
    return <p className="faint">The farm knows no earlier success to compare with.</p>;
  return (
    <div className="compared">
      <p>
        Compared with <PastAction of={before} />.
        {before.worker === null || after.worker === null ? null : before.worker === after.worker ? (
          <> Both ran on worker {shownText(after.worker)}.</>
        ) : (
          <>
            {" "}
            That one ran on worker {shownText(before.worker)}, this one on worker{" "}
            {shownText(after.worker)}.
          </>
        )}
      </p>
      <Differences of={differences} />
    </div>
  );
}

/** A link to an earlier action, with its time: to the job of a graph, or to the execution. */
export function PastAction({ of }: { readonly of: ComparedAction }) {
  const { at, executionId, job, request } = of;
  return (
    <>
      {job !== null ? (
        <Link
          to="/graphs/$id/jobs/$name"
          params={{ id: job.graph, name: job.name }}
          search={{ run: job.run }}
        >
          run {job.run} of commit <code>{job.commit.slice(0, 8)}</code>
        </Link>
      ) : executionId === null ? (
        "a result from the cache"
      ) : (
        <Link to="/executions/$id" params={{ id: executionId }}>
          execution {executionId.slice(0, 8)}
          {request === null || request.invocation === ""
            ? null
            : ` of invocation ${shownText(request.invocation.slice(0, 8))}`}
        </Link>
      )}{" "}
      (<Ago time={at} />)
    </>
  );
}
