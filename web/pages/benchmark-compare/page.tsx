import { useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { shareEndpoints } from "#api/endpoints/share-endpoints.ts";
import { call } from "../../farm/ask.ts";
import { usePageTitle } from "../../parts/page-title.ts";
import { ShareButton } from "../../parts/share-button.tsx";
import { LabHead } from "../benchmarks/lab-head.tsx";
import type { CompareSearch } from "../benchmarks/search.ts";
import { BrokenList, MissingList } from "./broken-list.tsx";
import { CaseTable } from "./case-table.tsx";
import { CompareFilters } from "./compare-filters.tsx";
import { CompareHead } from "./compare-head.tsx";
import { byChange, isShown } from "./filter-cases.ts";
import { type ComparedPair, comparedPair, comparisonQuery } from "./load.ts";
import { MarkdownButton } from "./markdown-button.tsx";
import { PairChooser } from "./pair-chooser.tsx";
import { SummaryTable } from "./summary-table.tsx";
import "../benchmarks/benchmarks.css";
import "./compare.css";

/** Two artifacts compared, case by case. */
export function ComparePage() {
  const search = useSearch({ from: "/benchmarks/compare" });
  const pair = comparedPair(search);
  return pair === undefined ? (
    <NotChosen search={search} />
  ) : (
    <Compared pair={pair} search={search} />
  );
}

function NotChosen({ search }: { readonly search: CompareSearch }) {
  usePageTitle("Compare", "Benchmarks");
  return (
    <div className="page lab-page">
      <LabHead title="Compare two artifacts" suite={search.suite} />
      <PairChooser
        key={search.suite}
        suite={search.suite}
        before={search.before}
        after={search.after}
      />
    </div>
  );
}

function Compared({
  pair,
  search,
}: {
  readonly pair: ComparedPair;
  readonly search: CompareSearch;
}) {
  const navigate = useNavigate({ from: "/benchmarks/compare" });
  const { data } = useSuspenseQuery(comparisonQuery(pair));
  usePageTitle(`${data.before.tag} → ${data.after.tag}`, "Benchmarks");
  const change = (next: CompareSearch) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true, resetScroll: false });
  const shown = useMemo(
    () => data.cases.filter((each) => isShown(each, search)).toSorted(byChange),
    [data, search],
  );
  const metric = data.metrics.find(({ name }) => name === data.metric);
  return (
    <div className="page lab-page">
      <LabHead title={`${data.before.tag} → ${data.after.tag}`} suite={data.suite}>
        <MarkdownButton comparison={data} cases={shown} />
        <ShareButton
          what={`${data.before.tag} → ${data.after.tag} by ${data.metric}`}
          make={(expiresInMs) =>
            call(shareEndpoints.shareComparison, {
              body: { ...pair, metric: data.metric, expiresInMs },
            })
          }
        />
      </LabHead>
      <CompareHead comparison={data} search={search} />
      <BrokenList broken={data.newlyBroken} />
      <SummaryTable comparison={data} onMetric={(name) => change({ metric: name })} />
      <CompareFilters comparison={data} search={search} shown={shown.length} onChange={change} />
      {metric === undefined ? null : (
        <CaseTable comparison={data} metric={metric} cases={shown} search={search} />
      )}
      <MissingList missing={data.missing} before={data.before.tag} after={data.after.tag} />
    </div>
  );
}
