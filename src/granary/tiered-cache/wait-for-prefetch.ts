import type { TransferLine } from "#commit-index/order-transfer.ts";

/** Of what is on its way the size is not known to who asks: most results are smaller. */
const assumedBytes = 256 * 1024;

/** Before anything was measured. */
const unmeasuredMs = 200;
const mostMs = 1_000;

/**
 * How long to wait for what is on its way before it is asked for directly.
 *
 * Asking takes a round trip and the transfer, too; what is on its way has begun before. Three round trips: it may be
 * behind some others in the stream, which a direct question overtakes.
 */
export function waitForPrefetchMs(line: TransferLine | undefined): number {
  if (line === undefined) return unmeasuredMs;
  const transferMs = (assumedBytes / line.bytesPerSecond) * 1_000;
  return Math.min(mostMs, 3 * line.roundTripMs + transferMs);
}

/** Whether it came, or is known not to, within the time. */
export async function cameWithin(coming: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => setImmediate(() => resolve(false)), ms);
  });
  const came = coming.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([came, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
