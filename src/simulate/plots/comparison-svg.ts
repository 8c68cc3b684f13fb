import type { Comparison } from "../compare.ts";
import { costAgainstLatency } from "./cost-against-latency.ts";
import { costOverTimePlot } from "./cost-over-time.ts";
import { escaped, text } from "./draw.ts";
import { shareOfClasses } from "./share-of-classes.ts";

const width = 860;
const height = 1010;

/**
 * Colours that most people with colour blindness can tell apart (Okabe and Ito, 2008); each name is beside its mark,
 * too.
 */
const colours: Readonly<Record<string, string>> = {
  smallest: "#56b4e9",
  largest: "#d55e00",
  adr: "#cc79a7",
  pagerank: "#e69f00",
  grange: "#009e73",
  oracle: "#8a8a8a",
};

const style = `
svg { color-scheme: light dark; --paper: #ffffff; --ink: #1f2328; --faint: #d8dee4; --bar: #0a6b50; --on-bar: #ffffff }
@media (prefers-color-scheme: dark) {
  svg { --paper: #0d1117; --ink: #e6edf3; --faint: #30363d; --bar: #3fb992; --on-bar: #0d1117 }
}
text { font: 12px system-ui, sans-serif; fill: var(--ink) }
.head { font-size: 15px; font-weight: 600 }
.tick { font-size: 11px; opacity: 0.8 }
.inbar.dark { fill: var(--on-bar) }
.grid { stroke: var(--faint) }
.bar { fill: var(--bar) }
polyline { fill: none; stroke-width: 2 }`;

/** Draws the comparison of strategies as one self-contained picture. */
export function comparisonSvg(comparison: Comparison): string {
  const { trace, seed, executions } = comparison;
  const head = `${trace}, seed ${seed}: ${executions} executions`;
  const marks = Object.entries(colours)
    .map(([name, colour]) => `.s-${name} { fill: ${colour} } .l-${name} { stroke: ${colour} }`)
    .join("\n");
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(head)}">`,
    `<style>${style}\n${marks}\n</style>`,
    `<rect width="${width}" height="${height}" style="fill: var(--paper)"/>`,
    text(20, 30, head, { class: "head" }),
    costAgainstLatency(comparison, { left: 80, top: 75, width: 740, height: 260 }),
    costOverTimePlot(comparison, { left: 80, top: 420, width: 740, height: 260 }),
    shareOfClasses(comparison, {
      left: 80,
      top: 765,
      width: 740,
      height: 34 * comparison.strategies.length,
    }),
    "</svg>",
    "",
  ].join("\n");
}
