import { useMutation, useQuery, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { caseKey } from "#core/test-case.ts";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { Ago, Elapsed } from "../../parts/times.tsx";
import { caseTitle } from "../benchmarks/case-words.ts";
import { changeText, valueText } from "../benchmarks/figure-text.ts";
import { LabHead } from "../benchmarks/lab-head.tsx";
import { suitesQuery } from "../benchmarks/load.ts";
import { StateSign } from "../benchmarks/state-mark.tsx";
import { benchmarkSearchQuery, cancelBenchmarkSearch } from "./load.ts";
import { SearchPlot } from "./search-plot.tsx";
import { searchKinds, searchStates } from "./search-states.ts";
import "../benchmarks/benchmarks.css";
import "../benchmark-series/series.css";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";

/** One search: its measurements so far, and the artifact that caused the step. */
export function BenchmarkSearchPage() {
  const { id } = useParams({ from: "/benchmarks/searches/$id" });
  const query = benchmarkSearchQuery(id);
  const { data: search } = useSuspenseQuery(query);
  const { data: suites } = useQuery(suitesQuery);
  const client = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => cancelBenchmarkSearch(id),
    onSettled: () => client.invalidateQueries({ queryKey: query.queryKey }),
  });
  const { from, metric, points, steps, suite, to } = search;
  const unit =
    suites?.suites.find(({ name }) => name === suite)?.metrics.find(({ name }) => name === metric)
      ?.unit ?? "count";
  usePageTitle(searchKinds[search.kind], search.case.benchmark);
  const measured = points.filter(({ value }) => value !== null).length;
  return (
    <div className="page lab-page">
      <LabHead
        title={
          <>
            {searchKinds[search.kind]} <span className="faint">{caseTitle(search.case)}</span>
          </>
        }
        suite={suite}
      >
        {search.state === "running" ? (
          <ConfirmButton
            label="Cancel…"
            question="Cancel this search?"
            confirm="Cancel the search"
            busy={cancel.isPending}
            onConfirm={() => cancel.mutate()}
          >
            The search requests no more artifacts. Running measurements continue, and the farm keeps
            all figures.
          </ConfirmButton>
        ) : null}
      </LabHead>
      <div className="row facts-line">
        <StateSign state={searchStates[search.state]} />
        <span>{metric}</span>
        <span>
          {from} … {to}
        </span>
        <span>{search.requestedBy}</span>
        <Ago time={search.createdAt} />
        <Elapsed from={search.createdAt} to={search.endedAt} />
        <Link
          to="/benchmarks/series"
          search={{ suite, case: caseKey(search.case), metric, from, to }}
        >
          its history
        </Link>
      </div>
      {cancel.error === null ? null : (
        <p role="alert" className="problem">
          {cancel.error.message}
        </p>
      )}
      <p className="report-verdict" aria-live="polite">
        {search.sentence}
      </p>
      <p className="faint">
        The search measured {search.measured} of the {search.artifacts} artifacts between the two;{" "}
        {measured} have a figure.
      </p>
      {steps.length === 0 ? null : (
        <section aria-label="Steps">
          <h2>Steps</h2>
          <ul className="pair-list">
            {steps.map((step) => (
              <li key={`${step.before} ${step.artifact}`}>
                <Link
                  to="/benchmarks/compare"
                  search={{ suite, before: step.before, after: step.artifact, metric }}
                >
                  {step.before} → {step.artifact}
                </Link>{" "}
                <strong className="number">{changeText(step.change)}</strong>{" "}
                <span className="faint">
                  {step.exact ? "exactly between these two" : "somewhere between these two"}
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
      <SearchPlot points={points} steps={steps} unit={unit} />
      <section aria-label="Figures">
        <h2>Figures</h2>
        <ScrollableTable label="Figures by artifact">
          <table className="figures">
            <thead>
              <tr>
                <th scope="col">Artifact</th>
                <th scope="col">{metric}</th>
              </tr>
            </thead>
            <tbody>
              {points
                .filter(({ value }) => value !== null)
                .map(({ artifact, value }) => (
                  <tr key={artifact}>
                    <th scope="row">{artifact}</th>
                    <td>{value === null ? "–" : valueText(value, unit)}</td>
                  </tr>
                ))}
            </tbody>
          </table>
        </ScrollableTable>
      </section>
    </div>
  );
}
