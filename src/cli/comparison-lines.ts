import type { Comparison } from "#simulate/compare.ts";
import type { Figures } from "#simulate/figures.ts";
import type { Paint } from "./terminal/paint.ts";
import { printableLine } from "./terminal/printable-text.ts";
import { tableLines } from "./terminal/table.ts";

/** Describes a comparison of strategies, for people. */
export function comparisonLines(comparison: Comparison, paint: Paint): string[] {
  const { trace, seed, executions, seenOnOneCpu, priceOfDelay, sizeClasses, strategies } =
    comparison;
  const oracle = strategies.find(({ strategy }) => strategy === "oracle");
  const classes = sizeClasses.join("/");
  return [
    `${paint.bold(printableLine(trace))}, seed ${seed}: ${executions} executions; price of delay ${priceOfDelay}.`,
    ...(seenOnOneCpu > 0
      ? [
          `${seenOnOneCpu} of them have been seen on only one CPU, so the simulation assumes that more CPUs do not make them faster.`,
        ]
      : []),
    "",
    ...tableLines([
      ["", "cost", "busy", "idle", "50 %", "95 %", "99 %", "makespan", "slow", "failed", "wrongly"],
      ...strategies.map(costRow),
    ]),
    "",
    ...tableLines([
      [
        "",
        "retries",
        "hedges",
        "background",
        `runs on ${classes}`,
        "known: cost",
        "95 %",
        "to oracle",
      ],
      ...strategies.map((each) => laterRow(each, oracle)),
    ]),
    "",
    "Cost is price × seconds of running workers. Times are from submission to the end, in seconds.",
    "slow: longer than the acceptable time; wrongly: failed, but would have succeeded on the largest class.",
    "known: executions of actions that had already run ten times; to oracle: their cost with delay, compared with the oracle.",
  ];
}

function costRow(each: Figures): string[] {
  return [
    each.strategy,
    whole(each.totalCost),
    whole(each.busyCost),
    whole(each.idleCost),
    ...seconds(each),
    (each.makespanMs / 1000).toFixed(0),
    String(each.slowerThanAcceptable),
    String(each.failures),
    String(each.falseFailures),
  ];
}

function laterRow(each: Figures, oracle: Figures | undefined): string[] {
  const best = oracle?.afterTen.objective ?? 0;
  return [
    each.strategy,
    String(each.retries),
    String(each.hedges),
    String(each.backgroundRuns),
    each.runsByClass.join("/"),
    whole(each.afterTen.busyCost),
    (each.afterTen.latencyMs.p95 / 1000).toFixed(1),
    best > 0 ? `${(each.afterTen.objective / best).toFixed(3)}×` : "–",
  ];
}

function seconds({ latencyMs: { p50, p95, p99 } }: Figures): readonly string[] {
  return [p50, p95, p99].map((ms) => (ms / 1000).toFixed(1));
}

function whole(cost: number): string {
  return cost.toFixed(0);
}
