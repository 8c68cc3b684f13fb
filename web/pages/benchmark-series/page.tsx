import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { caseKey, caseOfKey } from "#core/test-case.ts";
import { usePageTitle } from "../../parts/page-title.ts";
import { caseWords } from "../benchmarks/case-words.ts";
import { Choose } from "../benchmarks/choose.tsx";
import { LabHead } from "../benchmarks/lab-head.tsx";
import { suitesQuery } from "../benchmarks/load.ts";
import { lineOf, type SeriesSearch } from "../benchmarks/search.ts";
import { ChangePoints } from "./change-points.tsx";
import { LargeChart } from "./large-chart.tsx";
import { seriesQuery } from "./load.ts";
import { PointsTable } from "./points-table.tsx";
import { SearchHere } from "./search-here.tsx";
import { pointsWithin } from "./series-points.ts";
import "../benchmarks/benchmarks.css";
import "./series.css";

/** One benchmark's figures along the main line, with their steps. */
export function SeriesPage() {
  const search = useSearch({ from: "/benchmarks/series" });
  const navigate = useNavigate({ from: "/benchmarks/series" });
  const { data: suites } = useSuspenseQuery(suitesQuery);
  const suite = suites.suites.find(({ name }) => name === search.suite) ?? suites.suites[0];
  const of = caseOfKey(search.case ?? "");
  const metric = search.metric ?? suite?.headline ?? "";
  const kind = lineOf(search.kind);
  const series = useQuery({
    ...seriesQuery({
      suite: suite?.name ?? "",
      case: search.case ?? "",
      metric,
      kind,
      samples: search.samples !== undefined,
    }),
    enabled: suite !== undefined && of !== undefined,
  });
  const [searched, setSearched] = useState<{ readonly from: string; readonly to: string }>();
  usePageTitle(of?.benchmark ?? "One benchmark", "Benchmarks");
  const change = (next: SeriesSearch) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true, resetScroll: false });
  if (suite === undefined || of === undefined) {
    return (
      <div className="page lab-page">
        <LabHead title="One benchmark" />
        <p>
          The address names no case. Open a case from{" "}
          <Link to="/benchmarks/graphs">the graphs</Link>.
        </p>
      </div>
    );
  }
  const { data } = series;
  const points = data === undefined ? [] : pointsWithin(data.points, search);
  return (
    <div className="page lab-page">
      <LabHead
        title={
          <>
            {of.benchmark}{" "}
            <span className="faint">
              {of.section === "compile" ? "" : `${of.section} · `}
              {caseWords(of)}
            </span>
          </>
        }
        suite={suite.name}
      />
      <section aria-label="Filters" className="lab-filters">
        <Choose
          label="Metric"
          options={suite.metrics.map(({ name }) => name)}
          value={metric}
          onChange={(next) => change({ metric: next })}
        />
        <Choose
          label="Line"
          options={["master", "release"]}
          value={kind}
          words={(each) => (each === "master" ? "main line" : "releases")}
          onChange={(next) => change({ kind: next === "master" ? undefined : next })}
        />
        <label className="lab-tick">
          <input
            type="checkbox"
            checked={search.samples !== undefined}
            onChange={({ target }) => change({ samples: target.checked ? "yes" : undefined })}
          />{" "}
          every sample
        </label>
        <Link to="/benchmarks/noise" search={{ suite: suite.name, case: caseKey(of) }}>
          Its noise
        </Link>
        <span className="grow" />
        {search.from === undefined && search.to === undefined ? null : (
          <button type="button" onClick={() => change({ from: undefined, to: undefined })}>
            Reset the zoom
          </button>
        )}
      </section>
      {series.error === null ? null : (
        <p role="alert" className="problem">
          {series.error.message}
        </p>
      )}
      {data === undefined ? (
        <p className="faint">{series.error === null ? "Loading…" : ""}</p>
      ) : data.points.length === 0 ? (
        <p className="faint">
          It has not been measured on this line yet.{" "}
          <Link to="/benchmarks" search={{ suite: suite.name, ask: "yes" }}>
            Request a measurement
          </Link>
        </p>
      ) : (
        <>
          <LargeChart
            series={data}
            points={points}
            onChoose={({ artifact, before }) =>
              before === undefined
                ? undefined
                : void navigate({
                    to: "/benchmarks/compare",
                    search: {
                      suite: suite.name,
                      before,
                      after: artifact,
                      metric,
                      all: "yes",
                      find: of.benchmark,
                    },
                  })
            }
            onRange={(from, to) => change({ from, to })}
          />
          <ChangePoints series={data} onSearch={(from, to) => setSearched({ from, to })} />
          <SearchHere
            key={`${searched?.from} ${searched?.to} ${search.from} ${search.to}`}
            series={data}
            from={searched?.from ?? points[0]?.artifact}
            to={searched?.to ?? points.at(-1)?.artifact}
          />
          <PointsTable series={data} points={points} />
        </>
      )}
    </div>
  );
}
