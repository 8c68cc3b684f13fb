import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { GraphSummary } from "#api/graph.ts";
import { GraphPriority } from "#api/graph-priority.ts";
import { tell } from "../../../farm/ask.ts";
import { Modal } from "../../../parts/modal.tsx";
import { NumberField } from "../../../parts/number-field.tsx";
import { graphQuery } from "../load.ts";

interface Props {
  readonly graph: GraphSummary;
  readonly onClose: () => void;
}

/** Who goes first. A cap may give less than is asked for, and says so. */
export function PriorityDialog({ graph, onClose }: Props) {
  const client = useQueryClient();
  const [priority, setPriority] = useState(graph.priority);
  const [top, setTop] = useState(graph.top);
  const [reason, setReason] = useState("");
  const set = useMutation({
    mutationFn: () =>
      tell(GraphPriority, `/graphs/${encodeURIComponent(graph.id)}/priority`, {
        ...(priority === graph.priority ? {} : { priority }),
        ...(top === graph.top ? {} : { top }),
        ...(reason.trim() === "" ? {} : { reason: reason.trim() }),
      }),
    onSuccess: () => client.invalidateQueries(graphQuery(graph.id)),
  });
  const isChanged = priority !== graph.priority || top !== graph.top;
  return (
    <Modal title="Priority of this graph" onClose={onClose}>
      <div className="form">
        <NumberField
          label="Higher is sooner"
          min={-1_000}
          max={1_000}
          value={priority}
          onChange={setPriority}
        />
        <label>
          <input type="checkbox" checked={top} onChange={(event) => setTop(event.target.checked)} />{" "}
          the top class, which nothing overtakes
        </label>
        <label className="stacked">
          Why?
          <input type="text" value={reason} onChange={(event) => setReason(event.target.value)} />
        </label>
        <div aria-live="polite">
          {set.data === undefined ? null : (
            <p>
              It has {set.data.top ? "the top class" : `priority ${set.data.priority}`} now;{" "}
              <span className="number">{set.data.moved}</span> jobs of the queue have another place.{" "}
              {set.data.notice}
            </p>
          )}
        </div>
        {set.error === null ? null : (
          <p role="alert" className="problem">
            {set.error.message}
          </p>
        )}
      </div>
      <div className="row end">
        <button type="button" onClick={onClose}>
          Close
        </button>
        <button
          type="button"
          className="primary"
          disabled={!isChanged || set.isPending}
          onClick={() => set.mutate()}
        >
          {set.isPending ? "Setting it…" : "Set the priority"}
        </button>
      </div>
    </Modal>
  );
}
