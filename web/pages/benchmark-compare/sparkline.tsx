import type { Series } from "#api/benchmark-history.ts";
import type { Metric } from "#core/benchmark-metric.ts";
import { valueText } from "../benchmarks/figure-text.ts";

const width = 220;
const height = 36;

/** The last figures on one small line; the two compared ones are marked. */
export function Sparkline(props: {
  readonly points: Series["points"];
  readonly marked: readonly string[];
  readonly unit: Metric["unit"];
}) {
  const { marked, points, unit } = props;
  if (points.length < 2) return <span className="faint">too few figures</span>;
  const values = points.map(({ value }) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (n: number) => 4 + (n / (points.length - 1)) * (width - 8);
  const y = (value: number) => height - 4 - ((value - low) / (high - low || 1)) * (height - 8);
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="img"
      aria-label={`The last ${points.length} figures: from ${valueText(low, unit)} to ${valueText(high, unit)}`}
    >
      <path
        d={`M${points.map(({ value }, n) => `${x(n).toFixed(1)} ${y(value).toFixed(1)}`).join("L")}`}
      />
      {points.map((point, n) =>
        marked.includes(point.artifact) ? (
          <circle
            key={`${point.artifact} ${point.fingerprint}`}
            cx={x(n)}
            cy={y(point.value)}
            r={2.8}
          >
            <title>{`${point.artifact}: ${valueText(point.value, unit)}`}</title>
          </circle>
        ) : null,
      )}
    </svg>
  );
}
