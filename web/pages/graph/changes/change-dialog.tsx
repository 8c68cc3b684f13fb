import type { ReactNode } from "react";
import { Modal } from "../../../parts/modal.tsx";
import { PlannedJobs } from "./planned-jobs.tsx";
import type { RequestedChange } from "./requested-change.ts";
import { useChange } from "./use-change.ts";
import "./changes.css";

interface Props {
  readonly graphId: string;
  readonly title: string;
  readonly change: RequestedChange;
  /** Whether the form is complete enough to request a preview. */
  readonly isComplete: boolean;
  /** Options of the change. */
  readonly children?: ReactNode;
  readonly onClose: () => void;
}

/** Shows the effect of a change, and then makes exactly this change. */
export function ChangeDialog({ graphId, title, change, isComplete, children, onClose }: Props) {
  const { preview, apply } = useChange(graphId, change, isComplete);
  const planned = isComplete ? preview.data : undefined;
  const doesNothing = planned?.jobs.every((job) => job.does === "is left alone") ?? true;
  const problem = apply.error ?? (isComplete ? preview.error : null);
  return (
    <Modal title={title} onClose={onClose}>
      {children}
      <div aria-live="polite" aria-busy={preview.isFetching}>
        {planned === undefined ? null : <PlannedJobs change={planned} />}
        {isComplete && planned === undefined && preview.isFetching ? (
          <p className="faint">Loading the preview…</p>
        ) : null}
      </div>
      {problem === null ? null : (
        <p role="alert" className="problem">
          {problem.message}
        </p>
      )}
      <div className="row end">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          className="primary"
          disabled={planned === undefined || doesNothing || preview.isFetching || apply.isPending}
          onClick={() =>
            planned !== undefined && apply.mutate(planned.token, { onSuccess: onClose })
          }
        >
          {apply.isPending ? "Applying…" : "Apply"}
        </button>
      </div>
    </Modal>
  );
}
