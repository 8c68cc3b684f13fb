import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { usePageTitle } from "../../parts/page-title.ts";
import { Ago } from "../../parts/times.tsx";
import { caseTitle } from "../benchmarks/case-words.ts";
import { Choose } from "../benchmarks/choose.tsx";
import { LabHead } from "../benchmarks/lab-head.tsx";
import { suitesQuery } from "../benchmarks/load.ts";
import { StateMark } from "../benchmarks/state-mark.tsx";
import { benchmarkSearchesQuery } from "./load.ts";
import { searchKinds, searchStates } from "./search-states.ts";
import "../benchmarks/benchmarks.css";

/** Searches along the main line for the artifact that changed a figure. */
export function BenchmarkSearchesPage() {
  const search = useSearch({ from: "/benchmarks/searches" });
  const navigate = useNavigate({ from: "/benchmarks/searches" });
  const { data: suites } = useSuspenseQuery(suitesQuery);
  const suite = search.suite ?? suites.suites[0]?.name ?? "";
  const { data, error } = useQuery(benchmarkSearchesQuery(suite));
  usePageTitle("Step searches", "Benchmarks");
  return (
    <div className="page lab-page">
      <LabHead title="Step searches" suite={search.suite}>
        {suites.suites.length < 2 ? null : (
          <Choose
            label="Suite"
            options={suites.suites.map(({ name }) => name)}
            value={suite}
            onChange={(next) => void navigate({ search: { suite: next }, replace: true })}
          />
        )}
      </LabHead>
      {error === null ? null : (
        <p role="alert" className="problem">
          {error.message}
        </p>
      )}
      {suite !== "" && (data === undefined || data.searches.length > 0) ? null : (
        <p className="faint">
          None yet. To start one, select “Search here” in the history of a benchmark. The search
          measures artifacts between two points to find the one that caused a step.{" "}
          <Link to="/benchmarks/graphs">The graphs</Link> link to each history.
        </p>
      )}
      <ul className="rows lab-searches">
        {data?.searches.map((each) => (
          <li key={each.id}>
            <StateMark state={searchStates[each.state]} />
            <span className="what">
              <Link className="main" to="/benchmarks/searches/$id" params={{ id: each.id }}>
                {searchKinds[each.kind]}: {caseTitle(each.case)}
              </Link>
              <span className="faint">
                {each.metric} · {each.from} … {each.to} · {each.requestedBy}
              </span>
            </span>
            <span className="lab-sentence">{each.sentence}</span>
            <span className="number faint">
              {each.measured} of {each.artifacts} measured
            </span>
            <Ago time={each.createdAt} />
          </li>
        ))}
      </ul>
    </div>
  );
}
