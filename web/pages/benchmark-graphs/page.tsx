import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { usePageTitle } from "../../parts/page-title.ts";
import { LabHead } from "../benchmarks/lab-head.tsx";
import { suitesQuery } from "../benchmarks/load.ts";
import type { GraphsSearch } from "../benchmarks/search.ts";
import { chartsOf, type GraphKind, graphKinds } from "./chart-lines.ts";
import { GraphFilters } from "./graph-filters.tsx";
import { gridQuery } from "./load.ts";
import { SmallChart } from "./small-chart.tsx";
import "../benchmarks/benchmarks.css";
import "../benchmark-series/series.css";
import "./graphs.css";
import { numberText } from "../../parts/number-text.ts";

/** All series of a suite along the main line, as small charts. */
export function GraphsPage() {
  const search = useSearch({ from: "/benchmarks/graphs" });
  const navigate = useNavigate({ from: "/benchmarks/graphs" });
  const { data: suites } = useSuspenseQuery(suitesQuery);
  const suite = suites.suites.find(({ name }) => name === search.suite) ?? suites.suites[0];
  const metric = search.metric ?? suite?.headline ?? "";
  const { data, error, isPlaceholderData } = useQuery(gridQuery(suite?.name ?? "", metric, search));
  usePageTitle("Graphs", "Benchmarks");
  const charts = useMemo(() => chartsOf(data?.series ?? []), [data]);
  const kind: GraphKind = graphKinds.find((each) => each === search.kind) ?? "raw";
  const change = (next: GraphsSearch) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true, resetScroll: false });
  if (suite === undefined) {
    return (
      <div className="page lab-page">
        <LabHead title="Graphs" />
        <p>
          There is no suite yet. <Link to="/benchmarks/help">The help page</Link> describes how to
          push one.
        </p>
      </div>
    );
  }
  return (
    <div className="page lab-page">
      <LabHead title="Graphs" suite={suite.name} />
      <GraphFilters
        suites={suites.suites.map(({ name }) => name)}
        suite={suite}
        metric={metric}
        kind={kind}
        artifacts={data?.artifacts ?? []}
        search={search}
        onChange={change}
      />
      {error === null ? null : (
        <p role="alert" className="problem">
          {error.message}
        </p>
      )}
      {data === undefined ? (
        <p className="faint">{error === null ? "Loading…" : ""}</p>
      ) : (
        <>
          <p className="faint" aria-live="polite">
            {charts.length === 0
              ? "There are no figures for this choice."
              : `${numberText(data.series.length)} series of ${numberText(data.artifacts.length)} artifacts${data.leftOut === 0 ? "" : `; ${numberText(data.leftOut)} more are not shown: select fewer`}. Click a point to compare it with the artifact before. Drag to zoom in.`}
          </p>
          <ul className="chart-grid" aria-busy={isPlaceholderData}>
            {charts.map((chart) => (
              <SmallChart
                key={chart.key}
                chart={chart}
                grid={data}
                kind={kind}
                onCompare={(before, after) =>
                  void navigate({
                    to: "/benchmarks/compare",
                    search: { suite: suite.name, before, after, metric },
                  })
                }
                onRange={(from, to) => change({ from, to })}
              />
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
