import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Series } from "#api/benchmark-history.ts";
import { startBenchmarkSearch } from "./load.ts";

type Kind = "bisect" | "scan" | "change-points";

const kinds: Readonly<Record<Kind, readonly [string, string]>> = {
  bisect: [
    "find the artifact that caused the step",
    "Measures the artifact in the middle, then the middle of the half that contains the step, until one artifact is left.",
  ],
  "change-points": [
    "measure more around the steps",
    "Measures only artifacts that lie between two measured ones with different figures.",
  ],
  scan: [
    "measure all artifacts, or every n-th",
    "Measures artifacts of the range, one after the other.",
  ],
};

const everies = ["1", "2", "5", "10", "week", "month"] as const;

/** Requests measurements of artifacts between two points, to locate a step. */
export function SearchHere(props: {
  readonly series: Series;
  readonly from: string | undefined;
  readonly to: string | undefined;
}) {
  const { series } = props;
  const navigate = useNavigate();
  const [from, setFrom] = useState(props.from ?? "");
  const [to, setTo] = useState(props.to ?? "");
  const [kind, setKind] = useState<Kind>("bisect");
  const [every, setEvery] = useState<(typeof everies)[number]>("1");
  const start = useMutation({
    mutationFn: () =>
      startBenchmarkSearch({
        suite: series.suite,
        kind,
        case: series.case,
        metric: series.metric.name,
        from,
        to,
        ...(kind !== "scan"
          ? {}
          : { every: every === "week" || every === "month" ? every : Number(every) }),
      }),
    onSuccess: ({ id }) => navigate({ to: "/benchmarks/searches/$id", params: { id } }),
  });
  const artifacts = [...new Set(series.points.map(({ artifact }) => artifact))];
  const isEmpty = artifacts.indexOf(from) >= artifacts.indexOf(to);
  const end = (label: string, value: string, onChange: (value: string) => void) => (
    <label className="stacked">
      {label}
      <select value={value} onChange={({ target }) => onChange(target.value)}>
        {artifacts.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
    </label>
  );
  return (
    <section aria-label="Search here">
      <h2>Search here</h2>
      <form
        className="lab-fields"
        onSubmit={(event) => {
          event.preventDefault();
          start.mutate();
        }}
      >
        {end("After", from, setFrom)}
        {end("Up to", to, setTo)}
        <label className="stacked">
          How
          <select value={kind} onChange={({ target }) => setKind(target.value as Kind)}>
            {Object.entries(kinds).map(([key, [words]]) => (
              <option key={key} value={key}>
                {words}
              </option>
            ))}
          </select>
        </label>
        {kind === "scan" ? (
          <label className="stacked">
            Every
            <select
              value={every}
              onChange={({ target }) => setEvery(target.value as (typeof everies)[number])}
            >
              {everies.map((each) => (
                <option key={each} value={each}>
                  {each === "1" ? "one" : Number(each) ? `${each}th` : `first of a ${each}`}
                </option>
              ))}
            </select>
          </label>
        ) : null}
        <button type="submit" className="primary" disabled={isEmpty || start.isPending}>
          {start.isPending ? "Beginning…" : "Begin the search"}
        </button>
      </form>
      <p className="faint">
        {isEmpty ? "The first artifact must come before the second." : kinds[kind][1]}
      </p>
      {start.error === null ? null : (
        <p role="alert" className="problem">
          {start.error.message}
        </p>
      )}
    </section>
  );
}
