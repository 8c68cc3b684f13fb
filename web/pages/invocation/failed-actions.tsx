import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { InvocationAction, InvocationDetail } from "#api/invocation.ts";
import { FailureOfExecution } from "../../parts/execution-failure.tsx";
import { numberText } from "../../parts/number-text.ts";
import { shownText } from "../../parts/shown-text.ts";
import { ToolStateIcon } from "../../parts/tool-state.tsx";
import { actionsQuery } from "./load.ts";

const mostShown = 20;

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
      {more > 0 ? <p className="faint">{numberText(more)} more failed.</p> : null}
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
      {isOpen && executionId !== null ? (
        <FailureOfExecution execution={executionId}>
          <Link className="button" to="/executions/$id" params={{ id: executionId }}>
            Open execution
          </Link>
        </FailureOfExecution>
      ) : null}
    </details>
  );
}
