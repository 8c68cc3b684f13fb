import { type Comparison, compare } from "#simulate/compare.ts";
import type { Figures } from "#simulate/figures.ts";
import { standardTraces } from "#simulate/traces/standard-traces.ts";
import { geometricMean } from "../geometric-mean.ts";
import { atMost, exactly, forInformation, type Measurement, type Row } from "../row.ts";

/** Any others are possible: `grange simulate size-classes --trace NAME --seed N` shows these traces. */
const seeds = [1, 2, 3, 4, 5];

const mostCost = 0.85;
const mostLatency = 1;
const mostAboveOracle = 1.15;

/**
 * `grange` compared with the strategies of other farms, and with one that knows the future, on each of the standard
 * traces.
 */
export const simulations: readonly Measurement[] = Object.entries(standardTraces).map(
  ([name, make]) => ({
    title: `simulated: ${name}`,
    long: false,
    measure: async () =>
      rowsOf(
        name,
        seeds.map((seed) =>
          compare(make(seed), ["smallest", "largest", "adr", "pagerank", "grange", "oracle"], {
            seed,
          }),
        ),
      ),
  }),
);

function rowsOf(name: string, comparisons: readonly Comparison[]): Row[] {
  const named = (what: string) => `${name}: ${what}`;
  const over = `${comparisons[0]?.executions} executions each; seeds ${seeds.join(", ")}`;
  const ratio = (other: string, figure: (of: Figures) => number): readonly [number, string] => {
    const ratios = comparisons.map(
      (each) => figure(strategyIn(each, "grange")) / figure(strategyIn(each, other)),
    );
    const each = ratios.map((one) => one.toFixed(2)).join(", ");
    return [geometricMean(ratios), `mean of ${each}; ${over}`];
  };
  const cost = (of: Figures) => of.totalCost;
  const p95 = (of: Figures) => of.latencyMs.p95;
  const against = (other: string): Row[] => {
    const [costs, howCosts] = ratio(other, cost);
    const [latencies, howLatencies] = ratio(other, p95);
    return [
      atMost(named(`cost, grange to ${other}`), costs, mostCost, "×", howCosts),
      atMost(named(`p95, grange to ${other}`), latencies, mostLatency, "×", howLatencies),
    ];
  };
  const [toOracle, howOracle] = ratio("oracle", (of) => of.afterTen.objective);
  const [busyToOracle, howBusy] = ratio("oracle", (of) => of.afterTen.busyCost);
  const [toSmallest, howSmallest] = ratio("smallest", cost);
  const [smallestP95, howSmallestP95] = ratio("smallest", p95);
  const wrongly = comparisons.map((each) => strategyIn(each, "grange").falseFailures);
  return [
    ...against("pagerank"),
    ...against("adr"),
    atMost(
      named("cost and delay, grange to oracle, actions known from 10 runs"),
      toOracle,
      mostAboveOracle,
      "×",
      howOracle,
    ),
    forInformation(named("busy cost alone, as above"), busyToOracle, "×", howBusy),
    exactly(
      named("failures that the largest class would not have had"),
      wrongly.reduce((sum, each) => sum + each, 0),
      0,
      "",
      over,
    ),
    forInformation(named("cost, grange to smallest"), toSmallest, "×", howSmallest),
    forInformation(named("p95, grange to smallest"), smallestP95, "×", howSmallestP95),
    worseCases(name, comparisons),
  ];
}

/** Each seed in which another strategy was cheaper or faster. */
function worseCases(name: string, comparisons: readonly Comparison[]): Row {
  const measures: readonly (readonly [string, (of: Figures) => number])[] = [
    ["cost", (of) => of.totalCost],
    ["p95", (of) => of.latencyMs.p95],
    ["failures", (of) => of.failures],
  ];
  const cases = comparisons.flatMap((comparison) =>
    ["adr", "pagerank", "smallest"].flatMap((other) =>
      measures.flatMap(([measure, figure]) => {
        const own = figure(strategyIn(comparison, "grange"));
        const others = figure(strategyIn(comparison, other));
        if (own <= others) return [];
        const factor = (own / others).toFixed(2);
        return [`${measure} ${factor} × that of ${other} (seed ${comparison.seed})`];
      }),
    ),
  );
  return {
    name: `${name}: where grange is not better`,
    figure: cases.length,
    unit: `of ${comparisons.length * 9} comparisons`,
    goal: "for information",
    holds: true,
    how: cases.join("; "),
  };
}

function strategyIn({ strategies }: Comparison, name: string): Figures {
  const found = strategies.find(({ strategy }) => strategy === name);
  if (found === undefined) throw new Error(`${name} was not simulated`);
  return found;
}
