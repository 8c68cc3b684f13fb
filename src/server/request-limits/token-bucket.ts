/** The requests that a caller may still make at once, and when that was true. */
export interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

interface Refill {
  readonly burst: number;
  readonly perMinute: number;
}

/**
 * Takes one token. Returns the bucket afterwards, and how many ms the caller must wait: 0 when it got the token.
 *
 * A new caller (undefined) has a full bucket.
 */
export function takeToken(
  before: Bucket | undefined,
  { burst, perMinute }: Refill,
  nowMs: number,
): { readonly bucket: Bucket; readonly waitMs: number } {
  const perMs = perMinute / 60_000;
  const grown = before === undefined ? burst : before.tokens + (nowMs - before.atMs) * perMs;
  const tokens = Math.min(burst, grown);
  if (tokens >= 1) return { bucket: { tokens: tokens - 1, atMs: nowMs }, waitMs: 0 };
  return { bucket: { tokens, atMs: nowMs }, waitMs: Math.ceil((1 - tokens) / perMs) };
}
