import type { InvocationActionState, InvocationCounts, InvocationState } from "#api/invocation.ts";
import type { TargetState } from "#api/invocation-targets.ts";
import { numberText } from "./number-text.ts";

type State = InvocationState | InvocationActionState | TargetState;

/** The names of states of an invocation, its actions or its targets, for people. */
export const toolStateWords: Readonly<Record<State, string>> = {
  running: "running",
  succeeded: "succeeded",
  failed: "failed",
  cancelled: "cancelled",
  over: "ended",
  silent: "went quiet",
  hit: "from the cache",
  queued: "queued",
  executing: "executing",
  flaky: "flaky",
  skipped: "skipped",
};

/** Some states use the shape of a job's state with another name. */
function shapeOf(state: State): Exclude<State, "executing" | "skipped"> {
  if (state === "executing") return "running";
  return state === "skipped" ? "cancelled" : state;
}

export function ToolStateIcon({ state, silent = false }: { state: State; silent?: boolean }) {
  const words = toolStateWords[state];
  return (
    <svg
      className={`icon is-${shapeOf(state)}`}
      {...(silent ? { "aria-hidden": true } : { role: "img", "aria-label": words })}
    >
      {silent ? null : <title>{words}</title>}
      <use href={`#state-${shapeOf(state)}`} />
    </svg>
  );
}

export function ToolStateBadge({ state }: { state: State }) {
  return (
    <span className={`badge is-${shapeOf(state)}`}>
      <ToolStateIcon state={state} silent />
      {toolStateWords[state]}
    </span>
  );
}

/** From final to open states. */
const order = ["hit", "succeeded", "failed", "cancelled", "executing", "queued"] as const;

export function countOf(counts: InvocationCounts, state: InvocationActionState): number {
  return state === "hit" ? counts.hits : counts[state];
}

export function actionsIn(counts: InvocationCounts): number {
  return order.reduce((sum, state) => sum + countOf(counts, state), 0);
}

/** `120 from the cache, 3 executed, 1 failed`: zeros are left out. */
export function countsText(counts: InvocationCounts): string {
  const labelOf = (state: InvocationActionState) =>
    state === "succeeded" ? "executed" : toolStateWords[state];
  return order
    .filter((state) => countOf(counts, state) > 0)
    .map((state) => `${numberText(countOf(counts, state))} ${labelOf(state)}`)
    .join(", ");
}

/** The states of an invocation's actions, as one bar. */
export function ActionCountsBar({ counts }: { counts: InvocationCounts }) {
  const words = countsText(counts) || "no actions";
  return (
    <span className="counts-bar" role="img" aria-label={words} title={words}>
      {order
        .filter((state) => countOf(counts, state) > 0)
        .map((state) => (
          <span
            key={state}
            className={`is-${shapeOf(state)}`}
            style={{ flexGrow: countOf(counts, state) }}
          />
        ))}
    </span>
  );
}
