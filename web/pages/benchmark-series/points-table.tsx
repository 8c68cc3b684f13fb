import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Series } from "#api/benchmark-history.ts";
import { numberText } from "../../parts/number-text.ts";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";
import { changeText, valueText } from "../benchmarks/figure-text.ts";
import { artifactBefore, type Point } from "./series-points.ts";

const atOnce = 50;

/** The chart's data as a table, the newest first. */
export function PointsTable(props: { readonly series: Series; readonly points: readonly Point[] }) {
  const { points, series } = props;
  const { metric, suite } = series;
  const [count, setCount] = useState(atOnce);
  const first = Math.max(0, points.length - count);
  const hasSamples = points.some(({ samples }) => samples !== undefined);
  return (
    <section aria-label="Points">
      <h2>
        Figures <span className="faint">{numberText(points.length)}</span>
      </h2>
      <ScrollableTable label="Figures">
        <table className="figures">
          <thead>
            <tr>
              <th scope="col">Artifact</th>
              <th scope="col">Date</th>
              <th scope="col">{metric.name}</th>
              <th scope="col">Change</th>
              {hasSamples ? <th scope="col">Samples</th> : null}
              <th scope="col">Collector</th>
              <th scope="col">Machine</th>
            </tr>
          </thead>
          <tbody>
            {points
              .slice(first)
              .map((point, k) => {
                const n = first + k;
                const before = artifactBefore(points, n);
                const previous = points[n - 1];
                const isLike = previous?.fingerprint === point.fingerprint;
                return (
                  <tr key={`${point.artifact} ${point.fingerprint}`}>
                    <th scope="row">
                      {before === undefined ? (
                        point.artifact
                      ) : (
                        <Link
                          to="/benchmarks/compare"
                          search={{ suite, before, after: point.artifact, metric: metric.name }}
                          title={`Compare with ${before}`}
                        >
                          {point.artifact}
                        </Link>
                      )}
                    </th>
                    <td>{point.datedAt.slice(0, 10)}</td>
                    <td>{valueText(point.value, metric.unit)}</td>
                    <td>
                      {previous === undefined || previous.value === 0
                        ? "–"
                        : isLike
                          ? changeText(point.value / previous.value - 1)
                          : "another machine"}
                    </td>
                    {hasSamples ? (
                      <td>
                        {point.samples?.map((each) => valueText(each, metric.unit)).join(", ") ??
                          "–"}
                      </td>
                    ) : null}
                    <td>{point.collector}</td>
                    <td>
                      <code title={point.fingerprint}>{point.fingerprint.slice(0, 8)}</code>
                    </td>
                  </tr>
                );
              })
              .toReversed()}
          </tbody>
        </table>
      </ScrollableTable>
      {first === 0 ? null : (
        <button type="button" className="more" onClick={() => setCount(count + atOnce * 4)}>
          Show older figures
        </button>
      )}
    </section>
  );
}
