import { useState } from "react";
import type { Edge } from "#api/graph.ts";
import { WaiveDialog } from "./waive-dialog.tsx";

/** How an edge stands: for what it waits, who waived it, or the button that does. */
export function WaitedFor({
  graphId,
  edge,
  canStillGoOn,
}: {
  readonly graphId: string;
  readonly edge: Edge | undefined;
  /** Whether the job that waits has not begun, and what it waits for is not simply done. */
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
