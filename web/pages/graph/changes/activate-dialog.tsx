import { useState } from "react";
import { ChangeDialog } from "./change-dialog.tsx";
import type { ChangeTarget } from "./requested-change.ts";

interface Props {
  readonly graphId: string;
  readonly verb: "activate" | "deactivate";
  readonly target: ChangeTarget;
  readonly title: string;
  readonly onClose: () => void;
}

/** Activates jobs that were set aside, and jobs that were not requested yet. */
export function ActivateDialog({ graphId, verb, target, title, onClose }: Props) {
  const [downstream, setDownstream] = useState(false);
  return (
    <ChangeDialog
      graphId={graphId}
      title={title}
      change={{ verb, target, downstream }}
      isComplete
      onClose={onClose}
    >
      {verb === "deactivate" ? null : (
        <label>
          <input
            type="checkbox"
            checked={downstream}
            onChange={(event) => setDownstream(event.target.checked)}
          />{" "}
          and what depends on them
        </label>
      )}
    </ChangeDialog>
  );
}
