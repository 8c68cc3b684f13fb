/** Returns a percentage with its sign and its significant digits: `+0.31 %`, `-12.5 %`. */
export function asPercent(change: number | null): string {
  if (change === null) return "from nothing";
  const percent = change * 100;
  const size = Math.abs(percent);
  const text = size >= 1_000 ? size.toExponential(1) : size.toFixed(size >= 9.95 ? 1 : 2);
  if (Number(text) === 0) return size === 0 ? "0 %" : `${percent > 0 ? "+" : "-"}<0.01 %`;
  return `${percent > 0 ? "+" : "-"}${text} %`;
}
