import { Link } from "@tanstack/react-router";
import type { CacheUseAnswer } from "#api/cache-use.ts";
import { numberText } from "../../parts/number-text.ts";
import { PeriodBars } from "../../parts/period-bars.tsx";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";
import { countText, shareText } from "../../parts/share-text.ts";
import { foldKinds, type UseOfKind } from "./fold-kinds.ts";
import { kindWords, periodName } from "./words.ts";

/** The hit rates of each kind of requests over time, and the same as a table. */
export function HitRates(props: {
  readonly use: CacheUseAnswer;
  readonly project: string | undefined;
}) {
  const { use, project } = props;
  const kinds = foldKinds(use, project);
  if (kinds.length === 0) {
    return (
      <p role="status">
        Nothing was requested from the cache in this time. <Link to="/connect">Connect a tool</Link>{" "}
        or <Link to="/new">run a graph</Link>.
      </p>
    );
  }
  return (
    <>
      <ScrollableTable label="Table of hit rates">
        <table className="figures hit-rates">
          <thead>
            <tr>
              <th scope="col">What was requested</th>
              <th scope="col">Hit rate</th>
              <th scope="col">Requests</th>
              <th scope="col">Hits</th>
              <th scope="col">Misses</th>
              <th scope="col" className="rate-over-time">
                Hit rate over time
              </th>
            </tr>
          </thead>
          <tbody>
            {kinds.map((of) => (
              <tr key={of.kind}>
                <th scope="row">{kindWords[of.kind]}</th>
                <td>
                  <strong>{shareText(of.hits, of.hits + of.misses)}</strong>
                </td>
                <td>{numberText(of.hits + of.misses)}</td>
                <td>{numberText(of.hits)}</td>
                <td>{numberText(of.misses)}</td>
                <td className="rate-over-time">
                  <RateBars of={of} periodMs={use.periodMs} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollableTable>
      <details>
        <summary>Each {use.periodMs < 86_400_000 ? "hour" : "day"} as a table</summary>
        <PeriodsTable kinds={kinds} periodMs={use.periodMs} />
      </details>
    </>
  );
}

function RateBars({ of, periodMs }: { readonly of: UseOfKind; readonly periodMs: number }) {
  const used = of.periods.filter(({ hits, misses }) => hits + misses > 0);
  const rates = used.map(({ hits, misses }) => hits / (hits + misses));
  const label = `${kindWords[of.kind]}: hit rates from ${shareText(Math.min(...rates), 1)} to ${shareText(Math.max(...rates), 1)}`;
  return (
    <PeriodBars
      kind="good"
      label={label}
      bars={of.periods.map(({ at, hits, misses }) => ({
        key: at,
        height: hits + misses === 0 ? null : hits / (hits + misses),
        title: `${periodName(at, periodMs)}: ${shareText(hits, hits + misses)} of ${countText(hits + misses, "request")}`,
      }))}
    />
  );
}

function PeriodsTable(props: { readonly kinds: readonly UseOfKind[]; readonly periodMs: number }) {
  const { kinds, periodMs } = props;
  const periods = kinds[0]?.periods ?? [];
  return (
    <ScrollableTable label="Hit rates by period">
      <table className="figures">
        <thead>
          <tr>
            <th scope="col">{periodMs < 86_400_000 ? "Hour (UTC)" : "Day (UTC)"}</th>
            {kinds.map(({ kind }) => (
              <th key={kind} scope="col">
                {kindWords[kind]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {periods
            .map(({ at }, n) => (
              <tr key={at}>
                <th scope="row">{periodName(at, periodMs)}</th>
                {kinds.map((of) => {
                  const { hits, misses } = of.periods[n] ?? { hits: 0, misses: 0 };
                  return (
                    <td key={of.kind}>
                      {shareText(hits, hits + misses)}{" "}
                      <span className="faint">of {numberText(hits + misses)}</span>
                    </td>
                  );
                })}
              </tr>
            ))
            .toReversed()}
        </tbody>
      </table>
    </ScrollableTable>
  );
}
