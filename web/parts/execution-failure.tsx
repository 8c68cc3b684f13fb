import { queryOptions, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { executionEndpoints } from "#api/endpoints/execution-endpoints.ts";
import type { ExecutionFailure } from "#api/execution-failure.ts";
import { call } from "../farm/ask.ts";
import { PastAction, WhatChanged } from "./compared-actions.tsx";
import { Copyable } from "./copy.tsx";
import { FailureLog } from "./failure-log.tsx";
import { shownText } from "./shown-text.ts";

const failureQuery = (execution: string) =>
  queryOptions({
    queryKey: ["execution", execution, "failure"],
    queryFn: ({ signal }) =>
      call(executionEndpoints.executionFailure, { params: { execution } }, signal),
  });

/** Why an execution failed, since when, the end of its output, what changed, and what one can do. */
export function FailureOfExecution(props: {
  readonly execution: string;
  /** Further buttons. */
  readonly children?: ReactNode;
}) {
  const { execution, children } = props;
  const { data, error } = useQuery(failureQuery(execution));
  if (error !== null) {
    return (
      <p role="alert" className="problem">
        The failure could not be loaded: {error.message}
      </p>
    );
  }
  const failure = data?.failure;
  if (failure === null || failure === undefined) return null;
  return (
    <div className="failure">
      {failure.source === null ? null : (
        <p>
          Source file: <code>{shownText(failure.source)}</code>
        </p>
      )}
      <Since failure={failure} />
      {failure.message === "" ? null : <p>{shownText(failure.message)}</p>}
      {failure.log === null ? null : <FailureLog log={failure.log} of="the action" />}
      <WhatChanged execution={execution} />
      <div className="button-row">
        {children}
        <Copyable text={`grange reproduce ${execution}`} label="command that runs it here" />
      </div>
    </div>
  );
}

function Since({ failure }: { readonly failure: NonNullable<ExecutionFailure["failure"]> }) {
  const { firstFailed, flaky, here, lastPassed } = failure;
  const isFirst = firstFailed.executionId === here.executionId;
  return (
    <p>
      {lastPassed === null ? (
        "The farm knows no earlier success of it. "
      ) : (
        <>
          Last passed: <PastAction of={lastPassed} />.{" "}
        </>
      )}
      {isFirst ? (
        "This is the first failure."
      ) : (
        <>
          First failed: <PastAction of={firstFailed} />.
        </>
      )}
      {flaky ? " It is flaky: the same action has also succeeded." : null}
    </p>
  );
}
