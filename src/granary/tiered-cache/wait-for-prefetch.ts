import type { TransferLine } from "#commit-index/order-transfer.ts";

/** The assumed size of a result in transfer, which the caller does not know: most are smaller. */
const assumedBytes = 256 * 1024;

/** Used before anything was measured. */
const unmeasuredMs = 200;
const mostMs = 1_000;

/**
 * Returns how long to wait for a result in transfer before it is requested directly.
 *
 * A request takes a round trip and the transfer, too; the result in transfer has started earlier. Three round trips: it
 * may be behind others in the stream, which a direct request overtakes.
 */
export function waitForPrefetchMs(line: TransferLine | undefined): number {
  if (line === undefined) return unmeasuredMs;
  const transferMs = (assumedBytes / line.bytesPerSecond) * 1_000;
  return Math.min(mostMs, 3 * line.roundTripMs + transferMs);
}

/** Returns whether it arrived, or is known not to arrive, within the time. */
export async function arrivedWithin(coming: Promise<void>, ms: number): Promise<boolean> {
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
