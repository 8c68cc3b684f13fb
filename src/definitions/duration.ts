import { z } from "zod";

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Returns `90s`, `10m` or `1h 30m` in milliseconds; undefined for other text. */
export function parseDuration(text: string): number | undefined {
  if (!/^\s*(\d+(\.\d+)?\s*(ms|s|m|h|d)\s*)+$/.test(text)) return undefined;
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)\s*(ms|[smhd])/g)) {
    sum += Number(amount) * (unitMs[unit ?? ""] ?? Number.NaN);
  }
  return Math.round(sum);
}

/** A text that is a duration from `leastMs` to `mostMs`; `range` is the same range in words. */
export function durationWithin(leastMs: number, mostMs: number, range: string) {
  return z.string({ error: 'must be a duration such as "10m"' }).refine((written) => {
    const ms = parseDuration(written);
    return ms !== undefined && ms >= leastMs && ms <= mostMs;
  }, `must be a duration from ${range}, such as "90s", "10m" or "1h 30m"`);
}
