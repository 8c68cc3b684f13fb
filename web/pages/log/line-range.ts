/** Lines of a log, from 1: the first and the last. */
export type LineRange = readonly [number, number];

/** Returns the lines that the last part of an address names: `#L12` or `#L12-L20`; undefined for all else. */
export function parseLineRange(hash: string): LineRange | undefined {
  const match = /^#?L([1-9]\d{0,9})(?:-L?([1-9]\d{0,9}))?$/.exec(hash);
  if (match === null) return undefined;
  const first = Number(match[1]);
  const last = Number(match[2] ?? first);
  return [Math.min(first, last), Math.max(first, last)];
}

/** Returns the last part of an address for lines: `#L12-L20`. */
export function formatLineRange([first, last]: LineRange): string {
  return first === last ? `#L${first}` : `#L${first}-L${last}`;
}
