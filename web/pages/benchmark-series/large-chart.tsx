import { useMemo } from "react";
import type { Series } from "#api/benchmark-history.ts";
import { useWidth } from "../../parts/use-width.ts";
import { changeText, valueText } from "../benchmarks/figure-text.ts";
import { ChartFrame } from "./chart-frame.tsx";
import { linearAxis, placeOf } from "./plot.ts";
import { artifactBefore, linesOf, machineChanges, type Point } from "./series-points.ts";

interface Props {
  readonly series: Series;
  readonly points: readonly Point[];
  readonly onChoose: (point: {
    readonly artifact: string;
    readonly before: string | undefined;
  }) => void;
  readonly onRange: (from: string, to: string) => void;
}

const height = 300;
const left = 74;
const top = 14;
const bottom = height - 22;

/** All figures of a series, with its steps, their mean levels, and changes of the machine. */
export function LargeChart({ series, points, onChoose, onRange }: Props) {
  const { element, width } = useWidth<HTMLDivElement>(900);
  const { metric } = series;
  const right = width - 10;
  const axis = useMemo(
    () =>
      linearAxis(
        points.flatMap(({ value, samples = [] }) => [value, ...samples]),
        6,
      ),
    [points],
  );
  const x = (n: number) => placeOf(n, points.length, left, right);
  const y = (value: number) =>
    bottom - ((value - axis.low) / (axis.high - axis.low)) * (bottom - top);
  const spot = (n: number) => `${x(n).toFixed(1)} ${y(points[n]?.value ?? 0).toFixed(1)}`;
  const say = (n: number) => {
    const point = points[n];
    return point === undefined ? "" : pointWords(point, points[n - 1], metric.unit);
  };
  const changes = machineChanges(points);
  return (
    <section aria-label="History" ref={element} className="large-chart">
      <ChartFrame
        label={`${metric.name} of ${points.length} artifacts`}
        width={width}
        height={height}
        left={left}
        right={right}
        count={points.length}
        say={say}
        onChoose={(n) =>
          onChoose({ artifact: points[n]?.artifact ?? "", before: artifactBefore(points, n) })
        }
        onRange={(from, to) => onRange(points[from]?.artifact ?? "", points[to]?.artifact ?? "")}
      >
        {(at) => (
          <>
            {axis.ticks.map((tick) => (
              <g key={tick} className="axis">
                <path d={`M${left} ${y(tick)}H${right}`} />
                <text x={left - 6} y={y(tick) + 3}>
                  {valueText(tick, metric.unit)}
                </text>
              </g>
            ))}
            <g className="axis">
              <text x={left} y={height - 5} className="axis-first">
                {points[0]?.datedAt.slice(0, 10)}
              </text>
              <text x={right} y={height - 5}>
                {points.at(-1)?.datedAt.slice(0, 10)}
              </text>
            </g>
            {changes.map((n) => (
              <g key={n} className="machine-change">
                <title>Another machine, or a change on the machine</title>
                <path d={`M${(x(n) + x(n - 1)) / 2} ${top}V${bottom}`} />
              </g>
            ))}
            <path
              className="samples"
              d={points
                .flatMap(({ samples = [] }, n) =>
                  samples.map((value) => `M${(x(n) - 2).toFixed(1)} ${y(value).toFixed(1)}h4`),
                )
                .join("")}
            />
            {linesOf(points).map((line) => (
              <path key={line[0]} className="series-line" d={`M${line.map(spot).join("L")}`} />
            ))}
            <path
              className={`series-dots${points.length > 400 ? " are-many" : ""}`}
              d={points.map((_, n) => `M${spot(n)}h0`).join("")}
            />
            <Steps series={series} points={points} x={x} y={y} />
            {at === undefined ? null : (
              <g className="chart-at">
                <path d={`M${x(at)} ${top}V${bottom}`} />
                <circle cx={x(at)} cy={y(points[at]?.value ?? 0)} r={4} />
              </g>
            )}
          </>
        )}
      </ChartFrame>
      <p className="faint chart-help">
        ▼ a step with its mean levels · ┊ the machine changed · click or Enter compares with the
        artifact before · drag to zoom in
      </p>
    </section>
  );
}

/** Mean levels extend from one change point to the next on the same machine. */
function Steps(props: {
  readonly series: Series;
  readonly points: readonly Point[];
  readonly x: (n: number) => number;
  readonly y: (value: number) => number;
}) {
  const { points, series, x, y } = props;
  const shown = series.changePoints
    .filter(({ standing }) => standing !== "dismissed")
    .flatMap((step) => {
      const n = points.findIndex(
        (point) => point.artifact === step.artifact && point.fingerprint === step.fingerprint,
      );
      return n === -1 ? [] : [{ step, n }];
    })
    .toSorted((a, b) => a.n - b.n);
  return shown.map(({ step, n }, k) => {
    const before = shown[k - 1];
    const after = shown[k + 1];
    const begin = before === undefined ? 0 : before.n;
    const end = after === undefined ? points.length - 1 : Math.max(n, after.n - 1);
    return (
      <g key={`${step.artifact} ${step.fingerprint}`} className={`step is-${step.standing}`}>
        <title>{`${step.artifact}: ${changeText(step.change)}${step.note === null ? "" : `, ${step.note}`}`}</title>
        <path
          className="level"
          d={`M${x(begin)} ${y(step.meanBefore)}H${x(Math.max(begin, n - 1))}M${x(n)} ${y(step.meanAfter)}H${x(end)}`}
        />
        <path className="flag" d={`M${x(n) - 5} 2h10l-5 9z`} />
      </g>
    );
  });
}

function pointWords(
  point: Point,
  before: Point | undefined,
  unit: Series["metric"]["unit"],
): string {
  const change =
    before === undefined || before.value === 0 || before.fingerprint !== point.fingerprint
      ? ""
      : `, ${changeText(point.value / before.value - 1)} from the one before`;
  const samples = point.samples === undefined ? "" : `, minimum of ${point.samples.length}`;
  return `${point.artifact} (${point.datedAt.slice(0, 10)}): ${valueText(point.value, unit)}${change}${samples}, on ${point.collector}`;
}
