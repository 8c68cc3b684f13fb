import { byDensity, type DemandTimes, dueMs, type Transfer } from "./choose-in-time.ts";

/** The order of requests within this time is unknown, in ms. */
const windowMs = 250;

/** Orders items by demand; within a window by the saving per byte, if the whole window arrives before it is due. */
export function orderInWindows<Item>(
  transfers: readonly Transfer<Item>[],
  times: DemandTimes,
  scale: number,
): Transfer<Item>[] {
  const order: Transfer<Item>[] = [];
  let atMs = times.beginMs;
  for (let first = 0; first < transfers.length; ) {
    const window = windowOf(transfers[first], scale);
    let end = first;
    while (end < transfers.length && windowOf(transfers[end], scale) === window) {
      atMs += transfers[end]?.costMs ?? 0;
      end++;
    }
    const together = transfers.slice(first, end);
    if (together.every((transfer) => atMs <= dueMs(transfer, times, scale))) {
      together.sort(byDensity);
    }
    for (const transfer of together) order.push(transfer);
    first = end;
  }
  return order;
}

function windowOf(transfer: Transfer<unknown> | undefined, scale: number): number {
  return Math.floor(((transfer?.firstMs ?? 0) * scale) / windowMs);
}
