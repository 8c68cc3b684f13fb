const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** `90s`, `10m`, `1h 30m` in milliseconds; undefined when it is no duration. */
export function parseDuration(text: string): number | undefined {
  if (!/^\s*(\d+(\.\d+)?\s*(ms|s|m|h|d)\s*)+$/.test(text)) return undefined;
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)\s*(ms|[smhd])/g)) {
    sum += Number(amount) * (unitMs[unit ?? ""] ?? Number.NaN);
  }
  return Math.round(sum);
}
