import type { Comparison } from "../compare.ts";
import { axes } from "./axes.ts";
import { type Box, evenSteps, linearScale, px, text } from "./draw.ts";

export function costOverTimePlot({ strategies }: Comparison, box: Box): string {
  const { left, top, width, height } = box;
  const points = strategies.flatMap(({ costOverTime }) => costOverTime);
  const mostMinutes = Math.max(0, ...points.map(({ atMs }) => atMs / 60_000));
  const mostCost = Math.max(0, ...points.map(({ cost }) => cost));
  const across = linearScale([0, mostMinutes], left, left + width - 70);
  const up = linearScale([0, mostCost], top + height, top);
  const ends = spread(strategies.map(({ costOverTime }) => up(costOverTime.at(-1)?.cost ?? 0)));
  const lines = strategies.map(({ strategy, costOverTime }, index) => {
    const path = costOverTime.map(
      ({ atMs, cost }) => `${px(across(atMs / 60_000))},${px(up(cost))}`,
    );
    const endX = across((costOverTime.at(-1)?.atMs ?? 0) / 60_000);
    return [
      `<polyline class="l-${strategy}" points="${path.join(" ")}"/>`,
      text(endX + 6, (ends[index] ?? 0) + 4, strategy, { class: "label" }),
    ].join("");
  });
  const x = { scale: across, steps: evenSteps(mostMinutes, 8), title: "minutes" };
  const y = { scale: up, steps: evenSteps(mostCost, 5), title: "cost so far, busy and idle" };
  return [axes(box, x, y), ...lines].join("\n");
}

/** Moves overlapping names up. */
function spread(heights: readonly number[]): number[] {
  const placed = [...heights];
  const order = heights.map((_, i) => i).sort((a, b) => (heights[b] ?? 0) - (heights[a] ?? 0));
  let lowest = Infinity;
  for (const index of order) {
    const y = Math.min(placed[index] ?? 0, lowest - 13);
    placed[index] = y;
    lowest = y;
  }
  return placed;
}
