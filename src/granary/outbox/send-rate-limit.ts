import { rest } from "#core/resting.ts";

/** Who is to send bytes waits here for its turn, so that all together are no faster than the limit. */
export type SendRateLimit = (bytes: number, signal: AbortSignal) => Promise<void>;

export function sendRateLimit(bytesPerSecond: number): SendRateLimit {
  // By a clock that nobody sets. Nothing is saved up: after a rest, the line is as slow as before.
  let freeAtMs = 0;
  return async (bytes, signal) => {
    const nowMs = performance.now();
    const startAtMs = Math.max(nowMs, freeAtMs);
    freeAtMs = startAtMs + (bytes / bytesPerSecond) * 1_000;
    if (startAtMs > nowMs) await rest(startAtMs - nowMs, signal);
  };
}
