import type { TransferLine } from "#commit-index/order-transfer.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { rest } from "#core/resting.ts";
import type { GranaryFarm } from "../farm/granary-farm.ts";
import type { noteArrivals } from "./arrivals.ts";
import { fetchWindow, type PrefetchStore } from "./fetch-window.ts";
import type { foregroundPriority } from "./foreground-priority.ts";
import type { SharedTransfers } from "./shared-transfers.ts";
import type { QueuedResult } from "./transfer-plan.ts";
import type { TransferQueue } from "./transfer-queue.ts";

/** Assumed until the line has been measured: an average connection. */
const unknownLine: TransferLine = { roundTripMs: 20, bytesPerSecond: 12_500_000 };
/** The estimated size of a result without its blobs, in bytes. */
const recordBytes = 256;
/** A build's own request waits at most this long for a prefetch window to end, … */
const windowMs = 100;
/** … or for this many bytes, as smaller windows would leave the connection idle in between. */
const leastWindowBytes = 256 * 1024;
/**
 * A connection that transfers the least window in this time is shared with the build's own requests. Pausing on it
 * would never let prefetching catch up with a build that has overtaken it, as one of the build's requests is always
 * in progress (measured: 158 of 300 results were late).
 */
const sharedMs = 50;
const mostWindowResults = 2_000;
const mostWindows = 4;
const restAfterFailureMs = 500;
const mostFailures = 5;

/** The parts that the windows of a build's prefetch need. */
interface WindowParts {
  readonly project: string;
  readonly store: PrefetchStore;
  readonly farm: Pick<GranaryFarm, "fetch" | "line" | "isAway">;
  readonly shared: SharedTransfers;
  /** The limit; undefined: none. */
  readonly bytesPerSecond: number | undefined;
  readonly queue: TransferQueue;
  readonly arrivals: ReturnType<typeof noteArrivals>;
  readonly priority: ReturnType<typeof foregroundPriority>;
}

/** A build's prefetch as it runs: window after window, until nothing is queued. */
interface PrefetchWindows extends WindowParts {
  readonly end: AbortController;
  /** All blobs that arrived, by digest. */
  readonly blobs: Map<string, Digest>;
  /** Whether nothing more will be queued. */
  isPlanned: boolean;
  /** The number of consecutive windows with a failure. */
  failures: number;
  loop: Promise<void> | undefined;
  whenSettled: (() => void)[];
}

export function noWindows(parts: WindowParts): PrefetchWindows {
  return {
    ...parts,
    end: new AbortController(),
    blobs: new Map(),
    isPlanned: false,
    failures: 0,
    loop: undefined,
    whenSettled: [],
  };
}

/** The line to the farm, as measured and within the limit. */
export function lineWithin({
  farm,
  bytesPerSecond: most = Number.POSITIVE_INFINITY,
}: Pick<WindowParts, "farm" | "bytesPerSecond">): TransferLine {
  const measured = farm.line() ?? unknownLine;
  return { ...measured, bytesPerSecond: Math.max(1, Math.min(measured.bytesPerSecond, most)) };
}

export function missingBytes(
  { store, project }: Pick<WindowParts, "store" | "project">,
  result: QueuedResult,
): number {
  let bytes = store.has(project, result.key) ? 0 : recordBytes;
  for (const blob of result.blobs) if (!store.hasBlob(blob)) bytes += blob.sizeBytes || 1;
  return bytes;
}

/** Requests windows while something is queued. Call it whenever something has been queued. */
export function wake(windows: PrefetchWindows): void {
  if (windows.loop !== undefined || windows.end.signal.aborted || windows.queue.isEmpty) {
    return settleIfDone(windows);
  }
  windows.loop = run(windows).finally(() => {
    windows.loop = undefined;
    // New work may have been added during the last window.
    if (windows.failures < mostFailures) wake(windows);
    else settleIfDone(windows);
  });
}

/** Informs the callers that wait for the end of the prefetch, if no window is running and none will follow. */
export function settleIfDone(windows: PrefetchWindows): void {
  const { loop, isPlanned, end, whenSettled, arrivals } = windows;
  if (loop !== undefined || !(isPlanned || end.signal.aborted)) return;
  windows.whenSettled = [];
  for (const settled of whenSettled) settled();
  arrivals.look();
}

async function run(windows: PrefetchWindows): Promise<void> {
  const { farm, queue, bytesPerSecond, end } = windows;
  const underWay = new Set<Promise<void>>();
  const startedAt = performance.now();
  let requestedBytes = 0;
  while (!end.signal.aborted && windows.failures < mostFailures) {
    await mayAsk(windows);
    if (end.signal.aborted) break;
    if (bytesPerSecond !== undefined) {
      const aheadMs = (requestedBytes / bytesPerSecond) * 1_000 - (performance.now() - startedAt);
      if (aheadMs > 0) await rest(aheadMs, end.signal);
    }
    if (farm.isAway()) {
      await rest(restAfterFailureMs, end.signal);
      windows.failures += 1;
      continue;
    }
    const items = queue.take(windowBytes(windows), mostWindowResults);
    if (items.length === 0) {
      if (underWay.size === 0) break;
      await Promise.race(underWay);
      continue;
    }
    requestedBytes += items.reduce((sum, item) => sum + missingBytes(windows, item), 0);
    const window = oneWindow(windows, items).finally(() => underWay.delete(window));
    underWay.add(window);
    if (underWay.size >= windowsAtOnce(windows)) await Promise.race(underWay);
  }
  await Promise.all(underWay);
}

async function oneWindow(windows: PrefetchWindows, items: readonly QueuedResult[]): Promise<void> {
  const { project, store, farm, shared, priority, arrivals, queue, blobs } = windows;
  const { signal } = windows.end;
  const most = windowBytes(windows);
  const ended = await fetchWindow(
    {
      project,
      store,
      farm,
      shared,
      way: priority,
      mayAsk: () => mayAsk(windows),
      // Before the window ends, so that results can be handed on while the rest arrives.
      onKept: (result) => arrivals.kept(result),
      signal,
      windowBytes: most,
    },
    items,
  );
  for (const { item, as, bytes } of ended.results) {
    queue.settle(item, as, bytes);
    if (as === "here") arrivals.came(item.key);
  }
  for (const blob of ended.blobs) blobs.set(digestKey(blob), blob);
  const hasFailed = ended.results.some(({ as }) => as === "again");
  windows.failures = hasFailed ? windows.failures + 1 : 0;
  if (windows.failures > 0) await rest(restAfterFailureMs * windows.failures, signal);
}

async function mayAsk(windows: PrefetchWindows): Promise<void> {
  return isShared(windows) ? undefined : windows.priority.free();
}

function isShared(windows: WindowParts): boolean {
  return leastWindowBytes <= (lineWithin(windows).bytesPerSecond * sharedMs) / 1_000;
}

/** Half the size where the connection is shared, as two windows run at a time. */
function windowBytes(windows: WindowParts): number {
  const ms = windows.priority.isFree ? windowMs : sharedMs / 2;
  return Math.max(leastWindowBytes, (lineWithin(windows).bytesPerSecond * ms) / 1_000);
}

/** Enough windows that the connection is not idle for a round trip between them. */
function windowsAtOnce(windows: WindowParts): number {
  if (!windows.priority.isFree) return 2;
  return Math.min(mostWindows, 1 + Math.ceil(lineWithin(windows).roundTripMs / windowMs));
}
