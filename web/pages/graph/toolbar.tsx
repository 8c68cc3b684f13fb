import type { RefObject } from "react";
import type { Graph } from "#api/graph.ts";
import type { JobState } from "#api/job-state.ts";
import { SearchBox } from "../../parts/search-box.tsx";
import { StateIcon } from "../../parts/state.tsx";
import { byAttention, stateWords } from "../../parts/state-words.ts";
import { type GraphSearch, type View, views } from "./search.ts";

interface Props {
  readonly graph: Graph;
  readonly view: View;
  readonly states: ReadonlySet<JobState>;
  readonly text: string;
  /** How many jobs pass the filter. */
  readonly shown: number;
  readonly filterBox: RefObject<HTMLInputElement | null>;
  readonly onChange: (search: GraphSearch) => void;
  readonly onToggle: (state: JobState) => void;
}

export function Toolbar({
  graph,
  view,
  states,
  text,
  shown,
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
        label="Filter jobs by name, tag or reason"
        placeholder="Filter jobs   /"
        value={text}
        box={filterBox}
        onChange={(typed) => onChange({ q: typed === "" ? undefined : typed })}
      />
      {shown === graph.jobs ? null : (
        <output className="faint number">
          {shown} of {graph.jobs}
        </output>
      )}
    </div>
  );
}
