import type { GraphSummary } from "#api/graph.ts";
import { byProgress, stateWords } from "./state-words.ts";

/** The states of a graph's jobs, as one bar. */
export function CountsBar({ counts, jobs }: Pick<GraphSummary, "counts" | "jobs">) {
  const present = byProgress.filter((state) => (counts[state] ?? 0) > 0);
  const words = present.map((state) => `${counts[state]} ${stateWords[state]}`).join(", ");
  return (
    <span className="counts-bar" role="img" aria-label={`${jobs} jobs: ${words}`} title={words}>
      {present.map((state) => (
        <span key={state} className={`is-${state}`} style={{ flexGrow: counts[state] ?? 0 }} />
      ))}
    </span>
  );
}
