import type { Measure } from "./fit-text.ts";

/** Of dag.css: `.box .name` and `.box .aside`. */
export const nameWidth = measureIn("550 12px");
export const asideWidth = measureIn("11px");

/** Measures in the font of the page on this machine: with a fixed width for each letter, texts overlapped. */
function measureIn(font: string): Measure {
  let context: CanvasRenderingContext2D | null | undefined;
  return (text) => {
    if (context === undefined) {
      context = document.createElement("canvas").getContext("2d");
      if (context !== null) context.font = `${font} ${getComputedStyle(document.body).fontFamily}`;
    }
    return context?.measureText(text).width ?? roughWidth(text);
  };
}

/** Sufficient for most letters of most fonts, if measuring is impossible. */
export function roughWidth(text: string): number {
  return 8 * text.length;
}
