import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { BrokenList, MissingList } from "../benchmark-compare/broken-list.tsx";
import { CaseTable } from "../benchmark-compare/case-table.tsx";
import { byChange } from "../benchmark-compare/filter-cases.ts";
import { sharedComparisonQuery } from "./load.ts";
import "../benchmarks/benchmarks.css";
import "../benchmark-compare/compare.css";

/** A comparison by its one metric, with all of its cases. */
export function SharedComparison({ token }: { readonly token: string }) {
  const { data, error } = useQuery(sharedComparisonQuery(token));
  const cases = useMemo(() => (data?.cases ?? []).toSorted(byChange), [data]);
  if (error !== null) return <p role="alert">{error.message}</p>;
  if (data === undefined) return <p className="faint center">loading…</p>;
  const metric = data.metrics.find(({ name }) => name === data.metric);
  return (
    <>
      <p>
        {data.suite}, by {data.metric}
      </p>
      <BrokenList broken={data.newlyBroken} />
      {metric === undefined ? null : (
        <CaseTable comparison={data} metric={metric} cases={cases} search={{ all: "true" }} />
      )}
      <MissingList missing={data.missing} before={data.before.tag} after={data.after.tag} />
    </>
  );
}
