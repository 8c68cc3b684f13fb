import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { rerunEndpoints } from "#api/endpoints/rerun-endpoints.ts";
import type { GraphSummary } from "#api/graph.ts";
import { call } from "../../../farm/ask.ts";
import { Modal } from "../../../parts/modal.tsx";
import { NumberField } from "../../../parts/number-field.tsx";
import { readGraphAgain } from "../load.ts";

interface Props {
  readonly graph: GraphSummary;
  /** Only for this job, whose own priority is added to that of the graph. */
  readonly job?: { readonly name: string; readonly priority: number };
  readonly onClose: () => void;
}

/** Changes a priority. A cap may reduce the requested value, and the dialog shows it. */
export function PriorityDialog({ graph, job, onClose }: Props) {
  const client = useQueryClient();
  const before = job?.priority ?? graph.priority;
  const [priority, setPriority] = useState(job?.priority ?? graph.priority);
  const [top, setTop] = useState(graph.top);
  const [reason, setReason] = useState("");
  const set = useMutation({
    mutationFn: () =>
      call(rerunEndpoints.setPriority, {
        params: { graph: graph.id },
        body: {
          ...(job === undefined ? {} : { job: job.name }),
          ...(priority === before ? {} : { priority }),
          ...(top === graph.top ? {} : { top }),
          ...(reason.trim() === "" ? {} : { reason: reason.trim() }),
        },
      }),
    onSuccess: () => readGraphAgain(client, graph.id),
  });
  const isChanged = priority !== before || top !== graph.top;
  return (
    <Modal
      title={job === undefined ? "Priority of this graph" : `Priority of ${job.name}`}
      onClose={onClose}
    >
      <div className="form">
        <NumberField
          label="A higher number starts sooner"
          min={-1_000}
          max={1_000}
          value={priority}
          onChange={setPriority}
        />
        {job === undefined ? (
          <label>
            <input
              type="checkbox"
              checked={top}
              onChange={(event) => setTop(event.target.checked)}
            />{" "}
            top class: starts before all other jobs
          </label>
        ) : (
          <p className="faint">It is added to the priority of the graph, {graph.priority}.</p>
        )}
        <label className="stacked">
          Why?
          <input type="text" value={reason} onChange={(event) => setReason(event.target.value)} />
        </label>
        <div aria-live="polite">
          {set.data === undefined ? null : (
            <p>
              It has{" "}
              {set.data.top && set.data.job === null
                ? "the top class"
                : `priority ${set.data.priority}`}{" "}
              now. <span className="number">{set.data.moved}</span> queued jobs change their
              position. {set.data.notice}
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
          {set.isPending ? "Saving…" : "Set the priority"}
        </button>
      </div>
    </Modal>
  );
}
