import type { Chooser } from "#simulate/chooser.ts";
import { chooserNamed } from "#simulate/choosers.ts";
import { type Figures, figuresOf } from "#simulate/figures.ts";
import { simulate } from "#simulate/simulate.ts";
import type { Trace } from "#simulate/trace.ts";
import { standardTraces } from "#simulate/traces/standard-traces.ts";
import { defaultSettings, type SizeClassSettings } from "#size-classes/settings.ts";
import { geometricMean } from "../../geometric-mean.ts";
import { atMost, exactly, forInformation, type Measurement, type Row } from "../../row.ts";
import { bestFixedClass } from "./best-fixed-class.ts";
import { unseenTraces } from "./unseen-traces.ts";

/** The strategy's parameters were chosen with other seeds, from 101 on. */
const seeds = [1, 2, 3];

const mostAboveOracle = 1.15;
const mostAboveFixed = 1.05;
const mostOfPageRank = 0.85;
/**
 * Tried in this order, until `grange` is as fast at p95 as PageRank; the first is the default. From 200 on, only the
 * delay counts: the p95 no longer falls, and the cost still grows.
 */
const pricesOfDelay = [3, 5, 8, 12, 20, 32, 64, 128];

/** `grange` on the standard traces and on ten kinds for which it was not made. */
export const sizeClassRows: readonly Measurement[] = Object.entries({
  ...unseenTraces,
  ...standardTraces,
}).map(([kind, make]) => ({
  title: `size classes: ${kind}`,
  long: false,
  measure: async () =>
    rowsOf(
      kind,
      seeds.map((seed) => strategiesOn(make(seed), seed)),
    ),
}));

interface OfSeed {
  readonly grange: Figures;
  readonly oracle: Figures;
  readonly fixed: Figures;
  readonly pagerank: Figures;
  /** With the lowest price of delay at which it is as fast as PageRank at p95; undefined if there is none. */
  readonly asFast: { readonly priceOfDelay: number; readonly figures: Figures } | undefined;
  /** The p95 of an oracle for which hardly anything but delay counts, to PageRank's: what any choice could reach. */
  readonly fastestOracle: number;
  readonly executions: number;
}

function strategiesOn(trace: Trace, seed: number): OfSeed {
  const of = (chooser: Chooser) => figuresOf(trace, simulate(trace, chooser, seed), seed);
  const grangeAt = (settings: SizeClassSettings) => of(chooserNamed("grange", settings));
  const grange = grangeAt(defaultSettings);
  const pagerank = of(chooserNamed("pagerank", defaultSettings));
  const asFast = () => {
    for (const priceOfDelay of pricesOfDelay) {
      const figures =
        priceOfDelay === defaultSettings.priceOfDelay
          ? grange
          : grangeAt({ ...defaultSettings, priceOfDelay });
      if (figures.latencyMs.p95 <= pagerank.latencyMs.p95) return { priceOfDelay, figures };
    }
    return undefined;
  };
  return {
    grange,
    oracle: of(chooserNamed("oracle", defaultSettings)),
    fixed: of(bestFixedClass(trace, defaultSettings)),
    pagerank,
    asFast: asFast(),
    fastestOracle:
      of(chooserNamed("oracle", { ...defaultSettings, priceOfDelay: 1_000 })).latencyMs.p95 /
      pagerank.latencyMs.p95,
    executions: trace.executions.length,
  };
}

function rowsOf(kind: string, all: readonly OfSeed[]): Row[] {
  const over = `${all[0]?.executions} executions each; seeds ${seeds.join(", ")}`;
  const falsely = all.reduce((sum, { grange }) => sum + grange.falseFailures, 0);
  const money = all.map(({ grange, oracle }) => grange.totalCost / oracle.totalCost);
  return [
    costRow(kind, all, over),
    pageRankRow(kind, all, over),
    exactly(
      `size classes, ${kind}: failures that the largest class would not have had`,
      falsely,
      0,
      "",
      over,
    ),
    forInformation(
      `size classes, ${kind}: money alone, grange to oracle`,
      geometricMean(money),
      "×",
      `busy and idle workers, all executions; mean of ${listed(money)}; ${over}`,
    ),
  ];
}

function costRow(kind: string, all: readonly OfSeed[], over: string): Row {
  // For actions seen ten times before; if hardly any is seen so often, for all executions.
  const isKnown = all.every(({ grange }) => grange.afterTen.executions >= 100);
  const cost = (of: Figures) => (isKnown ? of.afterTen : of).objective;
  const toOracle = all.map(({ grange, oracle }) => cost(grange) / cost(oracle));
  const toFixed = all.map(({ grange, fixed }) => cost(grange) / cost(fixed));
  const mean = geometricMean(toOracle);
  const meanToFixed = geometricMean(toFixed);
  return {
    name: `size classes, ${kind}: cost with delay, grange to oracle`,
    figure: Number(mean.toFixed(3)),
    unit: "×",
    goal: `≤ ${mostAboveOracle} × the oracle, or ≤ ${mostAboveFixed} × the best fixed class of each action`,
    holds: mean <= mostAboveOracle || meanToFixed <= mostAboveFixed,
    how: `mean of ${listed(toOracle)}; to the best fixed class ${meanToFixed.toFixed(3)} (${listed(toFixed)}); ${isKnown ? "actions known from ten runs" : "all executions"} of ${over}`,
  };
}

function pageRankRow(kind: string, all: readonly OfSeed[], over: string): Row {
  const name = `size classes, ${kind}: total cost at equal p95, grange to PageRank`;
  const ratios = all.flatMap(({ asFast, pagerank }) =>
    asFast ? [asFast.figures.totalCost / pagerank.totalCost] : [],
  );
  const prices = all.map(({ asFast }) => asFast?.priceOfDelay ?? "none").join(", ");
  const how = `price of delay ${prices}; mean of ${listed(ratios)}; ${over}`;
  if (ratios.length === all.length)
    return atMost(name, geometricMean(ratios), mostOfPageRank, "×", how);
  const late = all.map(({ grange, pagerank }) => grange.latencyMs.p95 / pagerank.latencyMs.p95);
  return {
    name,
    figure: null,
    unit: "×",
    goal: `≤ ${mostOfPageRank} ×`,
    holds: false,
    how: `its p95 stays above PageRank's at every price of delay up to ${pricesOfDelay.at(-1)} (at the usual one ${listed(late)} ×; an oracle that only avoids delay ${listed(all.map(({ fastestOracle }) => fastestOracle))} ×); ${how}`,
  };
}

function listed(ratios: readonly number[]): string {
  return ratios.map((each) => each.toFixed(2)).join(", ");
}
