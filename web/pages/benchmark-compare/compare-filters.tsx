import { useRef } from "react";
import { type Comparison, Verdict } from "#api/benchmark-comparison.ts";
import { useHotkeys } from "../../parts/hotkeys.ts";
import { numberText } from "../../parts/number-text.ts";
import { SearchBox } from "../../parts/search-box.tsx";
import { Choose } from "../benchmarks/choose.tsx";
import { type CompareSearch, facets } from "../benchmarks/search.ts";
import { wordsOf } from "./filter-cases.ts";
import { verdicts } from "./verdict-words.ts";

interface Props {
  readonly comparison: Comparison;
  readonly search: CompareSearch;
  readonly shown: number;
  readonly onChange: (next: CompareSearch) => void;
}

const nothing: CompareSearch = {
  find: undefined,
  category: undefined,
  only: undefined,
  all: undefined,
  ...Object.fromEntries(facets.map((facet) => [facet, undefined])),
};

/** The filters of the table. Each list contains only existing values. */
export function CompareFilters({ comparison, search, shown, onChange }: Props) {
  const { cases, metric, metrics } = comparison;
  const box = useRef<HTMLInputElement>(null);
  useHotkeys({
    "/": () => box.current?.focus(),
    f: () => onChange({ only: search.only === "regressed" ? undefined : "regressed" }),
  });
  const present = Verdict.options.filter((each) => cases.some(({ verdict }) => verdict === each));
  const isNarrowed = Object.keys(nothing).some(
    (key) => search[key as keyof CompareSearch] !== undefined,
  );
  return (
    <section aria-label="Filters" className="lab-filters">
      <Choose
        label="Metric"
        options={metrics.map(({ name }) => name)}
        value={metric}
        onChange={(next) => onChange({ metric: next })}
      />
      {facets
        .filter((facet) => facet !== "benchmark")
        .map((facet) => (
          <Choose
            key={facet}
            label={facet}
            options={wordsOf(cases, facet)}
            value={search[facet]}
            none="all"
            onChange={(next) => onChange({ [facet]: next })}
          />
        ))}
      <Choose
        label="Category"
        options={[...new Set(cases.map(({ category }) => category))].sort()}
        value={search.category}
        none="all"
        onChange={(category) => onChange({ category })}
      />
      <Choose
        label="Verdict"
        options={present}
        value={search.only}
        none="all"
        words={(each) => verdicts[each as Verdict].words}
        onChange={(only) => onChange({ only })}
      />
      <Tick
        label="also irrelevant changes"
        value={search.all}
        onChange={(all) => onChange({ all })}
      />
      <Tick label="raw values" value={search.raw} onChange={(raw) => onChange({ raw })} />
      <SearchBox
        label="Filter by name"
        placeholder="Name   /"
        value={search.find ?? ""}
        box={box}
        onChange={(find) => onChange({ find: find || undefined })}
      />
      <span className="faint number" aria-live="polite">
        {numberText(shown)} of {numberText(cases.length)} cases
      </span>
      {isNarrowed ? (
        <button type="button" className="quiet" onClick={() => onChange(nothing)}>
          Reset
        </button>
      ) : null}
    </section>
  );
}

function Tick(props: {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}) {
  return (
    <label className="lab-tick">
      <input
        type="checkbox"
        checked={props.value !== undefined}
        onChange={({ target }) => props.onChange(target.checked ? "yes" : undefined)}
      />{" "}
      {props.label}
    </label>
  );
}
