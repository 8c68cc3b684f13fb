import type { Comparison } from "../compare.ts";
import { axes } from "./axes.ts";
import { type Box, logRange, logScale, px, roundSteps, text } from "./draw.ts";

/** Draws cost against latency: lower left is better. */
export function costAgainstLatency({ strategies }: Comparison, box: Box): string {
  const { left, top, width, height } = box;
  const costs = logRange(strategies.map(({ totalCost }) => totalCost));
  const seconds = logRange(strategies.map(({ latencyMs }) => latencyMs.p95 / 1000));
  const across = logScale(costs, left, left + width);
  const up = logScale(seconds, top + height, top);
  const marks = strategies.map(({ strategy, totalCost, latencyMs }) => {
    const x = across(totalCost);
    const y = up(latencyMs.p95 / 1000);
    // The label of a mark at the right edge is on its left.
    const isRight = x > left + width - 70;
    return [
      `<circle class="s-${strategy}" cx="${px(x)}" cy="${px(y)}" r="5"/>`,
      text(isRight ? x - 9 : x + 9, y + 4, strategy, {
        class: "label",
        "text-anchor": isRight ? "end" : "start",
      }),
    ].join("");
  });
  const x = { scale: across, steps: roundSteps(...costs), title: "cost, busy and idle" };
  const y = {
    scale: up,
    steps: roundSteps(...seconds),
    title: "95 % of executions are over after … s",
  };
  return [axes(box, x, y), ...marks].join("\n");
}
