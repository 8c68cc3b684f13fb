import { queryOptions, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { pathOfCall } from "#api/endpoint.ts";
import { executionEndpoints } from "#api/endpoints/execution-endpoints.ts";
import type { InvocationAction, InvocationDetail } from "#api/invocation.ts";
import { failureExcerpt } from "#core/failure-excerpt.ts";
import { apiBase, call } from "../../farm/ask.ts";
import { Copyable } from "../../parts/copy.tsx";
import { FailureLog } from "../../parts/failure-log.tsx";
import { shownText } from "../../parts/shown-text.ts";
import { ToolStateIcon } from "../../parts/tool-state.tsx";
import { actionsQuery } from "./load.ts";
import { sourceFileOf } from "./source-file-of.ts";

const mostShown = 20;
const excerptLines = 20;

/** The failed actions of an invocation, each with its target, its mnemonic and the end of its output. The first is open. */
export function FailedActions({ invocation }: { invocation: InvocationDetail }) {
  const { data } = useInfiniteQuery(actionsQuery(invocation, { state: "failed", text: "" }));
  const failed = data?.pages[0]?.actions.filter(({ state }) => state === "failed") ?? [];
  if (failed.length === 0) return null;
  const more = invocation.counts.failed - Math.min(failed.length, mostShown);
  return (
    <section className="what-failed" aria-label="What failed" tabIndex={0}>
      <h2>What failed</h2>
      {failed.slice(0, mostShown).map((action, index) => (
        <FailedAction
          key={action.executionId ?? action.actionDigest}
          action={action}
          isFirst={index === 0}
        />
      ))}
      {more > 0 ? <p className="faint">{more.toLocaleString("en")} more failed.</p> : null}
    </section>
  );
}

function FailedAction({ action, isFirst }: { action: InvocationAction; isFirst: boolean }) {
  const [isOpen, setOpen] = useState(isFirst);
  const { actionDigest, executionId, exitCode, mnemonic, outcome, target } = action;
  const facts = [
    shownText(mnemonic),
    outcome === null || outcome === "failed" ? "" : outcome.replaceAll("_", " "),
    exitCode === null || exitCode === 0 ? "" : `exit code ${exitCode}`,
  ];
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <ToolStateIcon state="failed" />{" "}
        <strong>{target === "" ? actionDigest.slice(0, 16) : shownText(target)}</strong>{" "}
        <span className="faint">{facts.filter((fact) => fact !== "").join(", ")}</span>
      </summary>
      {isOpen && executionId !== null ? <OutputOf execution={executionId} /> : null}
    </details>
  );
}

const failureQuery = (execution: string) =>
  queryOptions({
    queryKey: ["execution", execution, "failure"],
    queryFn: async ({ signal }) => {
      const detail = await call(executionEndpoints.execution, { params: { execution } }, signal);
      const stderr = await outputOf(execution, "stderr", signal);
      // Not every worker separates the two.
      const output = stderr === "" ? await outputOf(execution, "stdout", signal) : stderr;
      return {
        message: detail.message,
        source: sourceFileOf(detail.command?.arguments ?? []),
        log: failureExcerpt(output, excerptLines),
      };
    },
  });

/** Returns the first 4 MiB of what an execution wrote: the output of a single action is rarely longer. */
async function outputOf(
  execution: string,
  stream: "stdout" | "stderr",
  signal: AbortSignal,
): Promise<string> {
  const path = pathOfCall(executionEndpoints.executionLog, { execution }, { stream });
  const response = await fetch(apiBase + path, { signal });
  return response.ok ? response.text() : "";
}

function OutputOf({ execution }: { execution: string }) {
  const { data } = useQuery(failureQuery(execution));
  return (
    <div className="failure">
      {data?.source === undefined ? null : (
        <p>
          Source file: <code>{shownText(data.source)}</code>
        </p>
      )}
      {data?.message ? <p>{shownText(data.message)}</p> : null}
      {data === undefined ? null : <FailureLog log={data.log} of="the action" />}
      <div className="button-row">
        <Link className="button" to="/executions/$id" params={{ id: execution }}>
          Open execution
        </Link>
        <Copyable text={`grange reproduce ${execution}`} label="command that runs it here" />
      </div>
    </div>
  );
}
