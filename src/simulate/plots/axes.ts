import { type Box, line, type Scale, short, text } from "./draw.ts";

interface Axis {
  readonly scale: Scale;
  readonly steps: readonly number[];
  readonly title: string;
}

/** Draws lines at round numbers, their labels, and the name of the measure. */
export function axes({ left, top, width, height }: Box, across: Axis, up: Axis): string {
  const bottom = top + height;
  const right = left + width;
  return [
    ...across.steps.flatMap((step) => {
      const x = across.scale(step);
      return [
        line(x, top, x, bottom, "grid"),
        text(x, bottom + 16, short(step), { class: "tick", "text-anchor": "middle" }),
      ];
    }),
    ...up.steps.flatMap((step) => {
      const y = up.scale(step);
      return [
        line(left, y, right, y, "grid"),
        text(left - 6, y + 4, short(step), { class: "tick", "text-anchor": "end" }),
      ];
    }),
    text(right, bottom + 34, across.title, { class: "axis", "text-anchor": "end" }),
    text(left, top - 8, up.title, { class: "axis" }),
  ].join("\n");
}
