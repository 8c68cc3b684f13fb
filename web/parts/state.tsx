import type { GraphState, JobState } from "#api/job-state.ts";
import { stateWords } from "./state-words.ts";

/** A state's icon; it has an accessible name if there is no word next to it. */
export function StateIcon({
  state,
  silent = false,
}: {
  state: JobState | GraphState;
  silent?: boolean;
}) {
  return (
    <svg
      className={`icon is-${state}`}
      {...(silent ? { "aria-hidden": true } : { role: "img", "aria-label": stateWords[state] })}
    >
      {silent ? null : <title>{stateWords[state]}</title>}
      <use href={`#state-${state}`} />
    </svg>
  );
}

export function StateBadge({ state }: { state: JobState | GraphState }) {
  return (
    <span className={`badge is-${state}`}>
      <StateIcon state={state} silent />
      {stateWords[state]}
    </span>
  );
}
