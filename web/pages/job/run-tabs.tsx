import type { Run } from "#api/graph.ts";
import type { JobState } from "#api/job-state.ts";
import { StateIcon } from "../../parts/state.tsx";

interface Props {
  readonly runs: readonly Run[];
  readonly chosen: number;
  readonly onChoose: (run: number) => void;
}

/** The causes of runs, for people. */
export const causes: Readonly<Record<Run["cause"], string>> = {
  first: "first run",
  "auto-retry": "automatic retry of the definition",
  retrigger: "requested by a person",
  revive: "the failed job that blocked it has run again, or was waived",
  downstream: "a job before it ran again, with the jobs that depend on it",
  activate: "a person activated it",
  backfill: "requested by a backfill over commits",
  bisect: "requested by a search for the first bad commit",
};

/** The same in a word or two. */
const shortCauses: Readonly<Record<Run["cause"], string>> = {
  first: "first",
  "auto-retry": "retry",
  retrigger: "retrigger",
  revive: "revived",
  downstream: "downstream",
  activate: "activated",
  backfill: "backfill",
  bisect: "bisect",
};

/** One tab per run; a job with a single run needs no tabs. */
export function RunTabs({ runs, chosen, onChoose }: Props) {
  if (runs.length < 2) return null;
  return (
    <div className="run-tabs segments" role="tablist" aria-label="Runs">
      {runs.map((run) => (
        <button
          key={run.number}
          type="button"
          role="tab"
          aria-selected={run.number === chosen}
          title={run.why ?? causes[run.cause]}
          onClick={() => onChoose(run.number)}
        >
          <StateIcon state={stateOfRun(run)} /> Run {run.number}
          <span className="faint">{shortCauses[run.cause]}</span>
        </button>
      ))}
    </div>
  );
}

function stateOfRun(run: Run): JobState {
  if (run.state !== "finished") return run.state;
  if (run.outcome === "succeeded") return "succeeded";
  return run.outcome === "cancelled" ? "cancelled" : "failed";
}
