import { TextField } from "../../parts/text-field.tsx";
import type { NewGraphSearch } from "./search.ts";

interface Props {
  readonly chosen: NewGraphSearch;
  readonly onChange: (next: NewGraphSearch) => void;
}

/** The priority of the graph, and how long it is wanted. */
export function UrgencyFields({ chosen, onChange }: Props) {
  return (
    <div className="pair">
      <label
        className="stacked"
        title="A higher number starts sooner. The branch and your grants may limit it; the farm then says so."
      >
        Priority
        <input
          type="number"
          min={-1_000}
          max={1_000}
          placeholder="usual"
          value={chosen.priority ?? ""}
          onChange={({ target }) =>
            onChange({
              priority: Number.isNaN(target.valueAsNumber)
                ? undefined
                : Math.min(1_000, Math.max(-1_000, Math.round(target.valueAsNumber))),
            })
          }
        />
      </label>
      <TextField
        label="Time to live"
        title="The longest time that a job of this graph may wait for its start"
        isLive
        placeholder="such as 2h"
        value={chosen.ttl ?? ""}
        onChange={(ttl) => onChange({ ttl: ttl === "" ? undefined : ttl })}
      />
    </div>
  );
}
