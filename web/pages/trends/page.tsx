import { useSuspenseQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useDeferredValue, useRef } from "react";
import { Choice } from "../../parts/choice.tsx";
import { Crumbs } from "../../parts/crumbs.tsx";
import { useHotkeys } from "../../parts/hotkeys.ts";
import { usePageTitle } from "../../parts/page-title.ts";
import { SearchBox } from "../../parts/search-box.tsx";
import { trendsQuery } from "./load.ts";
import { choices, groupings, type TrendsSearch } from "./search.ts";
import { TrendsTable } from "./trends-table.tsx";
import "./trends.css";

/** How often the jobs of a repository fail, and how long they take, over time. */
export function TrendsPage() {
  const { name } = useParams({ from: "/repositories/$name/trends" });
  const search = useSearch({ from: "/repositories/$name/trends" });
  const navigate = useNavigate({ from: "/repositories/$name/trends" });
  // The table of the filters before stays while the next one loads.
  const { data: trends } = useSuspenseQuery(trendsQuery(name, useDeferredValue(search)));
  usePageTitle("Trends", name);
  const change = (next: TrendsSearch) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true, resetScroll: false });
  const by = search.by ?? "week";
  const last = search.last ?? choices[by][0];
  const isFiltered = search.text !== undefined || search.branch !== undefined;
  return (
    <div className="page trends-page">
      <Crumbs>
        <Link to="/repositories/$name" params={{ name }}>
          {name}
        </Link>
      </Crumbs>
      <h1>Trends</h1>
      <p className="faint">
        Runs that were executed: results from the cache, lost workers and errors of the farm do not
        count. Jobs with most failures come first. Click a job for its numbers.
      </p>
      <Filters search={search} by={by} last={last} onChange={change} />
      {trends.jobs.length === 0 ? (
        <p role="status">
          {isFiltered
            ? "No executed run matches these filters."
            : "No job of this repository was executed in this time."}
        </p>
      ) : (
        <TrendsTable trends={trends} />
      )}
      {trends.isCut ? (
        <p className="faint">
          There are more runs than this page reads. Choose a job or a shorter time.
        </p>
      ) : null}
    </div>
  );
}

function Filters(props: {
  readonly search: TrendsSearch;
  readonly by: (typeof groupings)[number];
  readonly last: number;
  readonly onChange: (next: TrendsSearch) => void;
}) {
  const { search, by, last, onChange } = props;
  const textBox = useRef<HTMLInputElement>(null);
  const branchBox = useRef<HTMLInputElement>(null);
  useHotkeys({ "/": () => textBox.current?.focus() });
  return (
    <div className="toolbar" role="toolbar" aria-label="What to show">
      <Choice
        label="One bar for each"
        options={groupings}
        chosen={by}
        textOf={(each) => `by ${each}`}
        onChoose={(each) => onChange({ by: each, last: undefined })}
      />
      <Choice
        label="How many"
        options={choices[by]}
        chosen={last}
        textOf={(each) => `${each} ${by === "week" ? "weeks" : "graphs"}`}
        onChoose={(each) => onChange({ last: each })}
      />
      <SearchBox
        label="Job"
        placeholder="Job   /"
        value={search.text ?? ""}
        box={textBox}
        onChange={(text) => onChange({ text: text || undefined })}
      />
      <SearchBox
        label="Branch"
        placeholder="Branch"
        value={search.branch ?? ""}
        box={branchBox}
        onChange={(branch) => onChange({ branch: branch || undefined })}
      />
    </div>
  );
}
