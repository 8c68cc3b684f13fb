import { rest } from "#core/resting.ts";

/** Waits until this number of bytes may be sent, so that all senders together stay within the limit. */
export type SendRateLimit = (bytes: number, signal: AbortSignal) => Promise<void>;

export function sendRateLimit(bytesPerSecond: number): SendRateLimit {
  // A time of the monotonic clock. Unused bandwidth is not saved for later.
  let freeAtMs = 0;
  return async (bytes, signal) => {
    const nowMs = performance.now();
    const startAtMs = Math.max(nowMs, freeAtMs);
    freeAtMs = startAtMs + (bytes / bytesPerSecond) * 1_000;
    if (startAtMs > nowMs) await rest(startAtMs - nowMs, signal);
  };
}
