import { useSuspenseQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { Search } from "#api/search.ts";
import { usePageTitle } from "../../parts/page-title.ts";
import { StateIcon } from "../../parts/state.tsx";
import { Ago, Elapsed } from "../../parts/times.tsx";
import { StandingsBar } from "../search/standings-bar.tsx";
import { searchesQuery } from "./load.ts";
import type { SearchesSearch } from "./search.ts";
import { StartForm } from "./start-form.tsx";
import "./searches.css";

/** Backfills and bisections: jobs over a range of commits. */
export function SearchesPage() {
  const search = useSearch({ from: "/searches" });
  const navigate = useNavigate({ from: "/searches" });
  const { data: searches } = useSuspenseQuery(searchesQuery(search.repository));
  usePageTitle("Searches");
  const change = (next: SearchesSearch) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true });
  return (
    <div className="page">
      <h1>
        Searches{" "}
        {search.repository === undefined ? null : (
          <span className="faint">of {search.repository}</span>
        )}
      </h1>
      <div className="searches-page">
        <StartForm search={search} onChange={change} />
        <section aria-label="Searches so far">
          {searches.length === 0 ? (
            <p className="faint">
              None yet. A backfill runs jobs on past commits. A bisection finds the first commit on
              which a job fails.
            </p>
          ) : (
            <ol className="rows searches">
              {searches.map((each) => (
                <SearchRow key={each.id} search={each} />
              ))}
            </ol>
          )}
        </section>
      </div>
    </div>
  );
}

function SearchRow({ search }: { readonly search: Search }) {
  return (
    <li>
      <StateIcon state={search.state === "finished" ? "succeeded" : search.state} />
      <span className="what">
        <Link className="main" to="/searches/$id" params={{ id: search.id }}>
          {search.kind === "bisect" ? "Bisect" : "Backfill"} {search.selection}
        </Link>
        <span className="faint">
          {search.repository} · <code>{search.after.slice(0, 8)}</code>…
          <code>{search.last.slice(0, 8)}</code> · {search.startedBy}
          {search.message === null ? "" : ` · ${search.message}`}
        </span>
      </span>
      <StandingsBar search={search} />
      <Elapsed from={search.createdAt} to={search.finishedAt} />
      <Ago time={search.createdAt} />
    </li>
  );
}
