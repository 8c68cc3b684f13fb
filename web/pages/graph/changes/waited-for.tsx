import { useState } from "react";
import type { Edge } from "#api/graph.ts";
import { WaiveDialog } from "./waive-dialog.tsx";

/** The state of an edge: the job it waits for, who waived it, or a button to waive it. */
export function WaitedFor({
  graphId,
  edge,
  canStillGoOn,
}: {
  readonly graphId: string;
  readonly edge: Edge | undefined;
  /** Whether the waiting job has not started, and the awaited job has not simply succeeded. */
  readonly canStillGoOn: boolean;
}) {
  const [isOpen, setOpen] = useState(false);
  if (edge === undefined) return null;
  if (edge.waived !== null) {
    return (
      <span className="faint" title={`${edge.waived.by}: ${edge.waived.reason}`}>
        waived
      </span>
    );
  }
  return (
    <>
      {edge.condition === "success" ? null : <span className="faint">{onText(edge)}</span>}
      {edge.status === "met" || !canStillGoOn ? null : (
        <button type="button" className="quiet" onClick={() => setOpen(true)}>
          waive…
        </button>
      )}
      {isOpen ? (
        <WaiveDialog graphId={graphId} job={edge.job} on={edge.on} onClose={() => setOpen(false)} />
      ) : null}
    </>
  );
}

function onText({ condition }: Edge): string {
  switch (condition) {
    case "success":
    case "failure":
    case "end":
      return `on ${condition}`;
    default:
      return `on ${condition.slice("outcome:".length).replaceAll("_", " ")}`;
  }
}
