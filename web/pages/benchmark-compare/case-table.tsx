import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useMemo, useState } from "react";
import type { CaseComparison, Comparison } from "#api/benchmark-comparison.ts";
import type { Metric } from "#core/benchmark-metric.ts";
import { caseKey } from "#core/test-case.ts";
import { useHotkeys } from "../../parts/hotkeys.ts";
import { numberText } from "../../parts/number-text.ts";
import type { CompareSearch } from "../benchmarks/search.ts";
import { CaseCells } from "./case-cells.tsx";
import { CaseDetail } from "./case-detail.tsx";

interface Props {
  readonly comparison: Comparison;
  readonly metric: Metric;
  readonly cases: readonly CaseComparison[];
  readonly search: CompareSearch;
}

type Row = { readonly head: string } | { readonly of: CaseComparison };

/** Orders primary cases before secondary ones, as in reports. */
function rowsOf(cases: readonly CaseComparison[]): Row[] {
  return (["primary", "secondary"] as const).flatMap((category) => {
    const own = cases.filter((each) => each.category === category);
    return own.length === 0
      ? []
      : [{ head: `${category} benchmarks` }, ...own.map((of) => ({ of }))];
  });
}

/** All cases; only the visible rows are in the page. */
export function CaseTable({ comparison, metric, cases, search }: Props) {
  const rows = useMemo(() => rowsOf(cases), [cases]);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [selected, setSelected] = useState(-1);
  const { element, top } = usePageTop<HTMLDivElement>();
  // oxlint-disable-next-line react/incompatible-library -- no compiler memoizes here
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => 36,
    overscan: 15,
    scrollMargin: top,
    getItemKey: (index) => keyOf(rows[index]),
  });
  const toggle = (key: string) =>
    setOpen((now) =>
      now.has(key) ? new Set([...now].filter((each) => each !== key)) : new Set([...now, key]),
    );
  const select = (step: 1 | -1) => {
    let next = selected + step;
    while (rows[next] !== undefined && "head" in (rows[next] ?? {})) next += step;
    if (rows[next] === undefined) return;
    setSelected(next);
    virtual.scrollToIndex(next);
  };
  const chosen = rows[selected];
  useHotkeys({
    j: () => select(1),
    k: () => select(-1),
    Enter: chosen === undefined || "head" in chosen ? undefined : () => toggle(keyOf(chosen)),
  });
  if (cases.length === 0) return <Nothing comparison={comparison} search={search} />;
  const isRaw = search.raw !== undefined;
  return (
    <div
      role="table"
      aria-label="Cases"
      aria-rowcount={rows.length + 1}
      className={`case-table${isRaw ? " is-raw" : ""}`}
    >
      <div role="row" className="case-row case-heads" aria-rowindex={1}>
        <span role="columnheader">Case</span>
        {isRaw ? <span role="columnheader">Before</span> : null}
        {isRaw ? <span role="columnheader">After</span> : null}
        <span role="columnheader">Change</span>
        <span role="columnheader">Evidence</span>
        <span role="columnheader">Verdict</span>
        <span role="columnheader">
          <span className="visually-hidden">More</span>
        </span>
      </div>
      <div
        ref={element}
        role="rowgroup"
        className="case-rows"
        style={{ height: virtual.getTotalSize() }}
      >
        {virtual.getVirtualItems().map((item) => {
          const row = rows[item.index];
          if (row === undefined) return null;
          const key = keyOf(row);
          return (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={item.index}
              role="row"
              aria-rowindex={item.index + 2}
              aria-current={item.index === selected ? true : undefined}
              className={`case-line${item.index === selected ? " selected" : ""}`}
              style={{ transform: `translateY(${item.start - virtual.options.scrollMargin}px)` }}
            >
              {"head" in row ? (
                <span role="cell" className="case-group">
                  {row.head}
                </span>
              ) : (
                <>
                  <CaseCells
                    suite={comparison.suite}
                    of={row.of}
                    metric={metric}
                    isRaw={isRaw}
                    isOpen={open.has(key)}
                    onToggle={() => toggle(key)}
                  />
                  {open.has(key) ? (
                    <CaseDetail comparison={comparison} metric={metric} of={row.of} />
                  ) : null}
                </>
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function keyOf(row: Row | undefined): string {
  if (row === undefined) return "";
  return "head" in row ? row.head : caseKey(row.of.case);
}

function Nothing({ comparison: { cases }, search }: Pick<Props, "comparison" | "search">) {
  const undecided = cases.filter(({ verdict }) => verdict === "undecided").length;
  return (
    <p className="faint center">
      {cases.length === 0
        ? "No case has figures of both artifacts."
        : search.all === undefined && search.only === undefined
          ? `None of the ${numberText(cases.length)} cases that match the other filters has a relevant change${undecided === 0 ? "" : `; ${undecided} are undecided`}. Select “also irrelevant changes” to see them.`
          : "No case matches the filters."}
    </p>
  );
}

/** Returns the distance of an element from the page's top, updated when the content above it grows. */
function usePageTop<E extends HTMLElement>() {
  const [top, setTop] = useState(0);
  const element = useCallback((at: E | null) => {
    if (at === null) return;
    const look = () => setTop(Math.round(at.getBoundingClientRect().top + window.scrollY));
    look();
    const observer = new ResizeObserver(look);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, []);
  return { element, top };
}
