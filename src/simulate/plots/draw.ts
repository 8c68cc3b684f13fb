/** A box in the picture. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Maps a figure to its position. */
export type Scale = (value: number) => number;

export function linearScale(
  [least, most]: readonly [number, number],
  from: number,
  to: number,
): Scale {
  const span = most - least || 1;
  return (value) => from + ((value - least) / span) * (to - from);
}

export function logScale(
  [least, most]: readonly [number, number],
  from: number,
  to: number,
): Scale {
  const linear = linearScale([Math.log(least), Math.log(most)], from, to);
  return (value) => linear(Math.log(Math.max(value, least)));
}

/** Returns the range of 1, 2, 5, 10 … that includes these values. */
export function logRange(values: readonly number[]): [number, number] {
  const positive = values.filter((value) => value > 0);
  const least = Math.min(...positive, Infinity);
  const most = Math.max(...positive, -Infinity);
  if (!Number.isFinite(least)) return [1, 10];
  const below = roundSteps(least / 5, least).at(-1) ?? least;
  const above = roundSteps(most * 1.0001, most * 5).at(0) ?? most * 2;
  return [below, above];
}

/** Returns the numbers 1, 2 and 5 × 10^n in a range. */
export function roundSteps(least: number, most: number): number[] {
  const steps: number[] = [];
  for (let n = Math.floor(Math.log10(least)); 10 ** n <= most; n += 1)
    for (const step of [1, 2, 5]) {
      const value = Number((step * 10 ** n).toPrecision(1));
      if (value >= least && value <= most) steps.push(value);
    }
  return steps;
}

/** Returns about this many equal steps from 0. */
export function evenSteps(most: number, count: number): number[] {
  if (!(most > 0)) return [0];
  const step = roundSteps(most / count, (most / count) * 10).at(0) ?? most;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
}

/** Formats 12 000 as 12k, because axes have little space. */
export function short(value: number): string {
  for (const [unit, letter] of [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ] as const)
    if (value >= unit) return `${Number((value / unit).toPrecision(3))}${letter}`;
  return String(Number(value.toPrecision(3)));
}

/** Two digits are enough for drawing, and keep the file small. */
export function px(value: number): string {
  return String(Number(value.toFixed(2)));
}

export function text(
  x: number,
  y: number,
  said: string,
  attributes: Readonly<Record<string, string>> = {},
): string {
  const more = Object.entries(attributes).map(([name, value]) => ` ${name}="${escaped(value)}"`);
  return `<text x="${px(x)}" y="${px(y)}"${more.join("")}>${escaped(said)}</text>`;
}

export function line(x1: number, y1: number, x2: number, y2: number, kind: string): string {
  return `<line class="${kind}" x1="${px(x1)}" y1="${px(y1)}" x2="${px(x2)}" y2="${px(y2)}"/>`;
}

export function escaped(text: string): string {
  return (
    text
      // XML does not allow these characters, not even escaped.
      .replace(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, "�")
      .replace(/&/g, "&amp;")
      .replace(/</g, "&lt;")
      .replace(/>/g, "&gt;")
      .replace(/"/g, "&quot;")
  );
}
