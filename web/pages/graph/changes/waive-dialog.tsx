import { useDeferredValue, useState } from "react";
import { ChangeDialog } from "./change-dialog.tsx";

interface Props {
  readonly graphId: string;
  readonly job: string;
  readonly on: string;
  readonly onClose: () => void;
}

/** Allows a job to run without another, by name and with a reason. */
export function WaiveDialog({ graphId, job, on, onClose }: Props) {
  const [reason, setReason] = useState("");
  const settled = useDeferredValue(reason.trim());
  return (
    <ChangeDialog
      graphId={graphId}
      title={`Let ${job} continue without ${on}`}
      change={{ verb: "waive", job, on, reason: settled }}
      isComplete={settled !== ""}
      onClose={onClose}
    >
      <label className="stacked">
        Reason. The farm stores it with your name, and everyone who can read the graph sees it.
        <input
          type="text"
          required
          maxLength={2_000}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </label>
    </ChangeDialog>
  );
}
