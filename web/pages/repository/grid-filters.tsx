import { useRef } from "react";
import { useHotkeys } from "../../parts/hotkeys.ts";
import { SearchBox } from "../../parts/search-box.tsx";
import { stateWords } from "../../parts/state-words.ts";
import { PathFilter } from "./path-filter.tsx";
import { graphStates, type RepositorySearch } from "./search.ts";

interface Props {
  readonly filters: RepositorySearch;
  readonly onChange: (next: RepositorySearch) => void;
}

/** The filters above the grid; they are part of the page's address. */
export function GridFilters({ filters, onChange }: Props) {
  const textBox = useRef<HTMLInputElement>(null);
  const authorBox = useRef<HTMLInputElement>(null);
  const branchBox = useRef<HTMLInputElement>(null);
  useHotkeys({ "/": () => textBox.current?.focus() });
  return (
    <div className="grid-filters">
      <SearchBox
        label="Subject, revision or commit"
        placeholder="Subject or commit   /"
        value={filters.text ?? ""}
        box={textBox}
        onChange={(text) => onChange({ text: text || undefined })}
      />
      <SearchBox
        label="Author"
        placeholder="Author"
        value={filters.author ?? ""}
        box={authorBox}
        onChange={(author) => onChange({ author: author || undefined })}
      />
      <SearchBox
        label="Branch"
        placeholder="Branch"
        value={filters.branch ?? ""}
        box={branchBox}
        onChange={(branch) => onChange({ branch: branch || undefined })}
      />
      <PathFilter path={filters.path ?? ""} onChange={(path) => onChange({ path })} />
      <select
        aria-label="State"
        value={filters.state ?? ""}
        onChange={(event) =>
          onChange({ state: graphStates.find((state) => state === event.target.value) })
        }
      >
        <option value="">every state</option>
        {graphStates.map((state) => (
          <option key={state} value={state}>
            {stateWords[state]}
          </option>
        ))}
      </select>
    </div>
  );
}
