import { useState } from "react";
import type { AskedChange, ChangeTarget } from "./asked-change.ts";
import { ChangeDialog } from "./change-dialog.tsx";

const modes = {
  revive: "them, and what was skipped because of them",
  downstream: "them, and everything that depends on them, in order",
  alone: "them alone; what was skipped stays so",
  "only-stale": "what is stale among them, not them",
} as const;
type Mode = keyof typeof modes;

interface Props {
  readonly graphId: string;
  readonly target: ChangeTarget;
  readonly title: string;
  /** Whether the graph's set has other graphs. */
  readonly hasSet: boolean;
  readonly onClose: () => void;
}

export function RetriggerDialog({ graphId, target, title, hasSet, onClose }: Props) {
  const [mode, setMode] = useState<Mode>("revive");
  const [times, setTimes] = useState(1);
  const [wholeSet, setWholeSet] = useState(false);
  const change: AskedChange = {
    verb: "retrigger",
    target: "selection" in target ? { ...target, wholeSet } : target,
    mode,
    times,
  };
  return (
    <ChangeDialog graphId={graphId} title={title} change={change} isComplete onClose={onClose}>
      <fieldset className="choices">
        <legend>Run anew</legend>
        {Object.entries(modes).map(([each, words]) => (
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
        <label>
          Times{" "}
          <input
            type="number"
            min={1}
            max={100}
            value={times}
            onChange={(event) => {
              const number = event.target.valueAsNumber;
              setTimes(Number.isNaN(number) ? 1 : Math.min(100, Math.max(1, Math.round(number))));
            }}
          />
        </label>
        {"selection" in target && hasSet ? (
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
