import type { Comparison } from "../compare.ts";
import { type Box, px, text } from "./draw.ts";

/** Draws, for the runs that clients waited for, how many ran on which class. */
export function shareOfClasses({ strategies, sizeClasses }: Comparison, box: Box): string {
  const { left, top, width, height } = box;
  const step = height / Math.max(1, strategies.length);
  const bars = strategies.map(({ strategy, runsByClass }, row) => {
    const all = runsByClass.reduce((sum, each) => sum + each, 0) || 1;
    const y = top + row * step;
    let from = left;
    const parts = runsByClass.map((runs, index) => {
      const wide = (width * runs) / all;
      const x = from;
      from += wide;
      const depth = sizeClasses.length === 1 ? 1 : 0.25 + (0.75 * index) / (sizeClasses.length - 1);
      const bar = `<rect class="bar" x="${px(x)}" y="${px(y + 3)}" width="${px(wide)}" height="${px(step - 6)}" fill-opacity="${px(depth)}"/>`;
      const label = `${sizeClasses[index]}: ${((100 * runs) / all).toFixed(0)} %`;
      // Only if there is enough space.
      if (wide < 58) return bar;
      const style = depth > 0.6 ? "inbar dark" : "inbar";
      return bar + text(x + 6, y + step / 2 + 4, label, { class: style });
    });
    const name = text(left - 6, y + step / 2 + 4, strategy, {
      class: "label",
      "text-anchor": "end",
    });
    return parts.join("") + name;
  });
  return [text(left, top - 8, "share of runs on each size class", { class: "axis" }), ...bars].join(
    "\n",
  );
}
