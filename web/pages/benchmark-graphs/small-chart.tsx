import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { SeriesGrid } from "#api/benchmark-history.ts";
import { caseKey, type TestCase } from "#core/test-case.ts";
import { ChartFrame } from "../benchmark-series/chart-frame.tsx";
import { linearAxis, placeOf } from "../benchmark-series/plot.ts";
import { changeText, valueText } from "../benchmarks/figure-text.ts";
import {
  type ChartGroup,
  type GraphKind,
  type GridSeries,
  type Spot,
  shownAs,
  spotsOf,
} from "./chart-lines.ts";
import { useSeen } from "./use-seen.ts";

interface Props {
  readonly chart: ChartGroup;
  readonly grid: SeriesGrid;
  readonly kind: GraphKind;
  readonly onCompare: (before: string, after: string) => void;
  readonly onRange: (from: string, to: string) => void;
}

const width = 320;
const height = 130;
const left = 48;
const right = width - 6;
const top = 12;
const bottom = height - 16;
/** Colours and dashes of lines; more than these share one. */
const styles = 6;

/** One benchmark with one profile: a line for each scenario. */
export function SmallChart({ chart, grid, kind, onCompare, onRange }: Props) {
  const { element, isSeen } = useSeen<HTMLLIElement>();
  const of = chart.series[0]?.case;
  if (of === undefined) return null;
  return (
    <li ref={element} className="small-chart">
      <h2>
        {of.benchmark}{" "}
        <span className="faint">
          {[of.section === "compile" ? "" : of.section, of.profile, of.backend, of.target]
            .filter((word) => word !== "")
            .join(" · ")}
        </span>
      </h2>
      {isSeen ? (
        <Drawn chart={chart} grid={grid} kind={kind} onCompare={onCompare} onRange={onRange} />
      ) : null}
      <ul className="chart-legend">
        {scenariosOf(chart).map((of, n) => (
          <li key={of.scenario} className={`line-${n % styles}`}>
            <svg viewBox="0 0 18 6" width="18" height="6" aria-hidden="true">
              <path className="line" d="M0 3H18" />
            </svg>
            <Link
              to="/benchmarks/series"
              search={{ suite: grid.suite, case: caseKey(of), metric: grid.metric.name }}
            >
              {lineName(of)}
            </Link>
          </li>
        ))}
      </ul>
    </li>
  );
}

function Drawn({ chart, grid, kind, onCompare, onRange }: Props) {
  const { artifacts, metric } = grid;
  const scenarios = scenariosOf(chart);
  const lines = useMemo(
    () => chart.series.map((of) => ({ of, spots: shownAs(kind, spotsOf(of.values)) })),
    [chart, kind],
  );
  const axis = useMemo(
    () =>
      linearAxis(
        lines.flatMap(({ spots }) => spots.map(({ value }) => value)),
        3,
      ),
    [lines],
  );
  const x = (n: number) => placeOf(n, artifacts.length, left, right);
  const y = (value: number) =>
    bottom - ((value - axis.low) / (axis.high - axis.low)) * (bottom - top);
  const text = (value: number) =>
    kind === "raw" ? valueText(value, metric.unit) : changeText(value / 100);
  const say = (n: number) => {
    const figures = lines.flatMap(({ of, spots }) => {
      const spot = spots.find((each) => each.n === n);
      if (spot === undefined) return [];
      const value = `${text(spot.value)}${spot.isGuessed ? " (not measured)" : ""}`;
      return [scenarios.length === 1 ? value : `${lineName(of.case)} ${value}`];
    });
    return `${artifacts[n]?.tag ?? ""}: ${figures.join(", ") || "no figure"}`;
  };
  const tag = (n: number) => artifacts[n]?.tag ?? "";
  return (
    <ChartFrame
      label={`${chart.key}, ${artifacts.length} artifacts`}
      width={width}
      height={height}
      left={left}
      right={right}
      count={artifacts.length}
      say={say}
      onChoose={(n) => (n === 0 ? undefined : onCompare(tag(n - 1), tag(n)))}
      onRange={(from, to) => onRange(tag(from), tag(to))}
    >
      {(at) => (
        <>
          {axis.ticks.map((tick) => (
            <g key={tick} className="axis">
              <path d={`M${left} ${y(tick)}H${right}`} />
              <text x={left - 4} y={y(tick) + 3}>
                {text(tick)}
              </text>
            </g>
          ))}
          <g className="axis">
            <text x={left} y={height - 3} className="axis-first">
              {artifacts[0]?.datedAt.slice(0, 10)}
            </text>
            <text x={right} y={height - 3}>
              {artifacts.at(-1)?.datedAt.slice(0, 10)}
            </text>
          </g>
          {lines.map(({ of, spots }) => (
            <Line
              key={lineKey(of)}
              style={scenarios.findIndex((each) => each.scenario === of.case.scenario) % styles}
              spots={spots}
              x={x}
              y={y}
            />
          ))}
          {lines.flatMap(({ of }) =>
            (of.steps ?? []).map(({ artifact, change }) => {
              const n = artifacts.findIndex((each) => each.tag === artifact);
              return n === -1 ? null : (
                <g key={`${lineKey(of)} ${artifact}`} className="step">
                  <title>{`${lineName(of.case)} stepped by ${changeText(change)} at ${artifact}`}</title>
                  <path className="flag" d={`M${x(n) - 4} 2h8l-4 7z`} />
                </g>
              );
            }),
          )}
          {at === undefined ? null : <path className="chart-at" d={`M${x(at)} ${top}V${bottom}`} />}
        </>
      )}
    </ChartFrame>
  );
}

/** Solid between measured points, dotted elsewhere. */
function Line(props: {
  readonly style: number;
  readonly spots: readonly Spot[];
  readonly x: (n: number) => number;
  readonly y: (value: number) => number;
}) {
  const { spots, style, x, y } = props;
  const at = ({ n, value }: Spot) => `${x(n).toFixed(1)} ${y(value).toFixed(1)}`;
  let drawn = "";
  let guessed = "";
  let isGoingOn = false;
  spots.forEach((spot, k) => {
    const before = spots[k - 1];
    if (before === undefined) return;
    const isMeasured = !spot.isGuessed && !before.isGuessed;
    if (!isMeasured) guessed += `M${at(before)}L${at(spot)}`;
    // A single path for a connected line; otherwise its dashes would restart at each point.
    else drawn += isGoingOn ? `L${at(spot)}` : `M${at(before)}L${at(spot)}`;
    isGoingOn = isMeasured;
  });
  // For a long line, only points that would be invisible otherwise: isolated figures.
  const isAlone = (k: number) =>
    spots[k - 1]?.isGuessed !== false && spots[k + 1]?.isGuessed !== false;
  const dots = spots
    .filter(({ isGuessed }, k) => !isGuessed && (spots.length < 40 || isAlone(k)))
    .map((spot) => `M${at(spot)}h0`)
    .join("");
  return (
    <g className={`line-${style}`}>
      <path className="line" d={drawn} />
      <path className="guessed" d={guessed} />
      <path className="dots" d={dots} />
    </g>
  );
}

function lineKey({ case: of, fingerprint }: GridSeries): string {
  return `${caseKey(of)} ${fingerprint}`;
}

function lineName({ benchmark, scenario }: TestCase): string {
  return scenario === "" ? benchmark : scenario;
}

/** Each scenario has one style; when its machine changes, its line is interrupted. */
function scenariosOf({ series }: ChartGroup): TestCase[] {
  const known = new Map(series.map((each) => [each.case.scenario, each.case]));
  return [...known.values()].toSorted((a, b) => a.scenario.localeCompare(b.scenario));
}
