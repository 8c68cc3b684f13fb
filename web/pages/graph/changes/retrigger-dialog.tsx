import { useState } from "react";
import { NumberField } from "../../../parts/number-field.tsx";
import { ChangeDialog } from "./change-dialog.tsx";
import type { ChangeTarget, RequestedChange } from "./requested-change.ts";

const modesOfOne = {
  revive: "this job, and jobs that were skipped because of it",
  downstream: "this job, and everything that depends on it, in order",
  alone: "only this job; skipped jobs stay skipped",
  "only-stale": "only stale jobs that depend on this job",
} as const;
type Mode = keyof typeof modesOfOne;

const modesOfMany: Readonly<Record<Mode, string>> = {
  revive: "these jobs, and jobs that were skipped because of them",
  downstream: "these jobs, and everything that depends on them, in order",
  alone: "only these jobs; skipped jobs stay skipped",
  "only-stale": "only stale jobs among these, and jobs that depend on them",
};

interface Props {
  readonly graphId: string;
  readonly target: ChangeTarget;
  readonly title: string;
  readonly isOne: boolean;
  /** Whether a run of them is queued or running. */
  readonly isUnderWay: boolean;
  readonly onClose: () => void;
}

export function RetriggerDialog({ graphId, target, title, isOne, isUnderWay, onClose }: Props) {
  const [mode, setMode] = useState<Mode>("revive");
  const [times, setTimes] = useState(1);
  // When the dialog is opened for one running job, the user wants another run of it.
  const [another, setAnother] = useState(isOne && isUnderWay);
  const [wholeSet, setWholeSet] = useState(false);
  const change: RequestedChange = {
    verb: "retrigger",
    target: "selection" in target ? { ...target, wholeSet } : target,
    mode,
    times,
    another,
  };
  return (
    <ChangeDialog graphId={graphId} title={title} change={change} isComplete onClose={onClose}>
      <fieldset className="choices">
        <legend>Run again</legend>
        {Object.entries(isOne ? modesOfOne : modesOfMany).map(([each, words]) => (
          <label key={each}>
            <input
              type="radio"
              name="mode"
              checked={each === mode}
              onChange={() => setMode(each as Mode)}
            />{" "}
            {words}
          </label>
        ))}
      </fieldset>
      <div className="row">
        <NumberField label="Times" min={1} max={100} value={times} onChange={setTimes} />
        {isUnderWay ? (
          <label>
            <input
              type="checkbox"
              checked={another}
              onChange={(event) => setAnother(event.target.checked)}
            />{" "}
            also if a run is queued or running
          </label>
        ) : null}
        {"selection" in target ? (
          <label>
            <input
              type="checkbox"
              checked={wholeSet}
              onChange={(event) => setWholeSet(event.target.checked)}
            />{" "}
            in all graphs of the set
          </label>
        ) : null}
      </div>
    </ChangeDialog>
  );
}
