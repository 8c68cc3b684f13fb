import { useRef } from "react";
import type { SeriesGrid, SuiteView } from "#api/benchmark-history.ts";
import { useHotkeys } from "../../parts/hotkeys.ts";
import { Choose } from "../benchmarks/choose.tsx";
import type { GraphsSearch } from "../benchmarks/search.ts";
import { type GraphKind, graphKinds } from "./chart-lines.ts";

interface Props {
  readonly suites: readonly string[];
  readonly suite: SuiteView;
  readonly metric: string;
  readonly kind: GraphKind;
  readonly artifacts: SeriesGrid["artifacts"];
  readonly search: GraphsSearch;
  readonly onChange: (next: GraphsSearch) => void;
}

const kindWords: Readonly<Record<GraphKind, string>> = {
  raw: "values",
  "percent-from-first": "% from the first",
  "percent-from-previous": "% from the one before",
};

/** The filters of the charts; lists come from the suite and from the visible charts. */
export function GraphFilters(props: Props) {
  const { artifacts, kind, metric, onChange, search, suite, suites } = props;
  const first = useRef<HTMLElement>(null);
  useHotkeys({ "/": () => first.current?.querySelector("select")?.focus() });
  const tags = artifacts.map(({ tag }) => tag);
  const isClose = search.from !== undefined || search.to !== undefined;
  return (
    <section ref={first} aria-label="Filters" className="lab-filters">
      <Choose
        label="Benchmark"
        options={[...new Set(suite.benchmarks.map(({ name }) => name))].sort()}
        value={search.benchmark}
        none="all"
        onChange={(benchmark) => onChange({ benchmark })}
      />
      {suites.length < 2 ? null : (
        <Choose
          label="Suite"
          options={suites}
          value={suite.name}
          onChange={(next) =>
            onChange({ suite: next, metric: undefined, from: undefined, to: undefined })
          }
        />
      )}
      <Choose
        label="Metric"
        options={suite.metrics.map(({ name }) => name)}
        value={metric}
        onChange={(next) => onChange({ metric: next })}
      />
      <Choose
        label="Show"
        options={graphKinds}
        value={kind}
        words={(each) => kindWords[each as GraphKind]}
        onChange={(next) => onChange({ kind: next === "raw" ? undefined : next })}
      />
      <Choose
        label="Line"
        options={["master", "release"]}
        value={search.line ?? "master"}
        words={(each) => (each === "master" ? "main line" : "releases")}
        onChange={(line) =>
          onChange({
            line: line === "master" ? undefined : line,
            from: undefined,
            to: undefined,
          })
        }
      />
      {(
        [
          ["section", suite.sections],
          ["profile", suite.profiles],
          ["scenario", suite.scenarios],
          ["backend", suite.backends],
          ["target", suite.targets],
        ] as const
      ).map(([facet, options]) => (
        <Choose
          key={facet}
          label={facet}
          options={options}
          value={search[facet]}
          none="all"
          onChange={(next) => onChange({ [facet]: next })}
        />
      ))}
      <Choose
        label="From"
        options={tags}
        value={search.from}
        none="the first"
        onChange={(from) => onChange({ from })}
      />
      <Choose
        label="To"
        options={tags.toReversed()}
        value={search.to}
        none="the last"
        onChange={(to) => onChange({ to })}
      />
      {isClose ? (
        <button type="button" onClick={() => onChange({ from: undefined, to: undefined })}>
          Reset the zoom
        </button>
      ) : null}
    </section>
  );
}
