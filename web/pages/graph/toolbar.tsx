import type { RefObject } from "react";
import type { Graph, JobSummary } from "#api/graph.ts";
import type { JobState } from "#api/job-state.ts";
import { byAttention } from "#api/job-state-order.ts";
import { SearchBox } from "../../parts/search-box.tsx";
import { StateIcon } from "../../parts/state.tsx";
import { stateWords } from "../../parts/state-words.ts";
import { ChangeButtons } from "./changes/change-buttons.tsx";
import type { ChangeTarget } from "./changes/requested-change.ts";
import type { JobFilter } from "./job-filter.ts";
import { type GraphSearch, type View, views } from "./search.ts";

interface Props {
  readonly graph: Graph;
  readonly view: View;
  readonly states: ReadonlySet<JobState>;
  readonly typed: string;
  /** The typed text that the job list already reflects. */
  readonly text: string;
  readonly wanted: JobFilter;
  /** The jobs that match the filter. */
  readonly shown: readonly JobSummary[];
  /** Whether one job is selected: then the keys apply to it. */
  readonly isSelected: boolean;
  readonly filterBox: RefObject<HTMLInputElement | null>;
  readonly onChange: (search: GraphSearch) => void;
  readonly onToggle: (state: JobState) => void;
}

export function Toolbar({
  graph,
  view,
  states,
  typed,
  text,
  wanted,
  shown,
  isSelected,
  filterBox,
  onChange,
  onToggle,
}: Props) {
  return (
    <div className="toolbar" role="toolbar" aria-label="What to show">
      <div className="segments" role="group" aria-label="View">
        {views.map((each, index) => (
          <button
            key={each}
            type="button"
            aria-pressed={each === view}
            title={`${each} (${index + 1})`}
            onClick={() => onChange({ view: each })}
          >
            {each}
          </button>
        ))}
      </div>
      <div className="chips" role="group" aria-label="States">
        {byAttention
          .filter((state) => (graph.counts[state] ?? 0) > 0 || states.has(state))
          .map((state) => (
            <button
              key={state}
              type="button"
              className="chip"
              aria-pressed={states.has(state)}
              onClick={() => onToggle(state)}
            >
              <StateIcon state={state} silent />
              <span className="number">{graph.counts[state] ?? 0}</span> {stateWords[state]}
            </button>
          ))}
      </div>
      <SearchBox
        label="Filter jobs by words, or by a selection such as kind:test & !lint"
        placeholder="Filter: words, or kind:test & !lint   /"
        value={typed}
        box={filterBox}
        onChange={(next) => onChange({ q: next === "" ? undefined : next })}
      />
      {shown.length === graph.jobs ? null : (
        <output className="faint number">
          {shown.length} of {graph.jobs}
        </output>
      )}
      <ChangeButtons
        graphId={graph.id}
        jobs={shown}
        target={targetOf(wanted, states, text, shown)}
        named={shown.length === 1 ? (shown[0]?.name ?? "") : `${shown.length} jobs`}
        isChoice={shown.length < graph.jobs}
        hasKeys={!isSelected}
      />
      {wanted.kind === "problem" ? (
        <p role="status" className="problem">
          {wanted.problem}
        </p>
      ) : null}
    </div>
  );
}

/** A selection is sent as such, so that it can apply to the whole set; for words, the visible names are sent. */
function targetOf(
  wanted: JobFilter,
  states: ReadonlySet<JobState>,
  text: string,
  shown: readonly JobSummary[],
): ChangeTarget {
  const inStates = [...states].map((state) => `state:${state}`).join(" | ");
  switch (wanted.kind) {
    case "all":
      return { selection: inStates === "" ? "*" : inStates, wholeSet: false };
    case "selection":
      return {
        selection: inStates === "" ? text : `(${text}) & (${inStates})`,
        wholeSet: false,
      };
    case "words":
    case "problem":
      return { jobs: shown.map((job) => job.name) };
  }
}
