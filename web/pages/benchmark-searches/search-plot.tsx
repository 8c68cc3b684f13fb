import type { BenchmarkSearchView } from "#api/benchmark-history.ts";
import type { Metric } from "#core/benchmark-metric.ts";
import { useWidth } from "../../parts/use-width.ts";
import { linearAxis, placeOf } from "../benchmark-series/plot.ts";
import { valueText } from "../benchmarks/figure-text.ts";

const height = 180;
const left = 74;
const top = 10;
const bottom = height - 20;

/** The measured positions on the line, and their figures. */
export function SearchPlot({
  points,
  steps,
  unit,
}: Pick<BenchmarkSearchView, "points" | "steps"> & { readonly unit: Metric["unit"] }) {
  const { element, width } = useWidth<HTMLDivElement>(800);
  const known = points.flatMap(({ artifact, value }, n) =>
    value === null ? [] : [{ artifact, value, n }],
  );
  if (known.length === 0) return <p className="faint">Nothing is measured yet.</p>;
  const right = width - 10;
  const axis = linearAxis(known.map(({ value }) => value));
  const x = (n: number) => placeOf(n, points.length, left, right);
  const y = (value: number) =>
    bottom - ((value - axis.low) / (axis.high - axis.low)) * (bottom - top);
  const placeOfArtifact = (tag: string) => points.findIndex(({ artifact }) => artifact === tag);
  return (
    <div ref={element} className="large-chart">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`${known.length} of ${points.length} artifacts have a figure`}
      >
        {axis.ticks.map((tick) => (
          <g key={tick} className="axis">
            <path d={`M${left} ${y(tick)}H${right}`} />
            <text x={left - 6} y={y(tick) + 3}>
              {valueText(tick, unit)}
            </text>
          </g>
        ))}
        <g className="axis">
          <text x={left} y={height - 4} className="axis-first">
            {points[0]?.artifact}
          </text>
          <text x={right} y={height - 4}>
            {points.at(-1)?.artifact}
          </text>
        </g>
        {steps.map((step) => {
          const [from, to] = [placeOfArtifact(step.before), placeOfArtifact(step.artifact)];
          return from === -1 || to === -1 ? null : (
            <rect
              key={`${step.before} ${step.artifact}`}
              className="chart-range"
              x={x(from)}
              y={top}
              width={Math.max(2, x(to) - x(from))}
              height={bottom - top}
            />
          );
        })}
        <path
          className="series-line"
          d={`M${known.map(({ n, value }) => `${x(n).toFixed(1)} ${y(value).toFixed(1)}`).join("L")}`}
        />
        {known.map(({ artifact, n, value }) => (
          <circle key={artifact} className="search-dot" cx={x(n)} cy={y(value)} r={3}>
            <title>{`${artifact}: ${valueText(value, unit)}`}</title>
          </circle>
        ))}
      </svg>
    </div>
  );
}
