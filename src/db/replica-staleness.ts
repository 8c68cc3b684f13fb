/** A position in the write-ahead log of the primary, and the time before it was read, in ms. */
export interface LogPosition {
  readonly lsn: bigint;
  readonly readAtMs: number;
}

/** The number of positions that are kept: at two checks a second, those of a minute. */
const mostPositions = 120;

/** Parses a position as PostgreSQL writes it, such as `16/B374D848`. Throws `RangeError` for another text. */
export function parseLsn(text: string): bigint {
  const [, high, low] = /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/i.exec(text) ?? [];
  if (high === undefined || low === undefined)
    throw new RangeError(`"${text.slice(0, 40)}" is no position of a write-ahead log`);
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}

/** Returns the positions with a new one, without the oldest if there are too many. */
export function withPosition(
  positions: readonly LogPosition[],
  next: LogPosition,
): readonly LogPosition[] {
  return [...positions, next].slice(-mostPositions);
}

/**
 * Returns the time until which a replica has all commits: that of the newest position which it has replayed. Undefined
 * when it has replayed none of them.
 *
 * The clocks of primary and replica are not compared, and a quiet primary makes no replica old: its position stays the
 * same.
 */
export function hasAllUntilMs(
  positions: readonly LogPosition[],
  replayed: bigint,
): number | undefined {
  return positions.findLast(({ lsn }) => lsn <= replayed)?.readAtMs;
}
