import type { LateBecause } from "#api/granary.ts";
import type { ExpectedEntry } from "#commit-index/filter-by-diff.ts";
import type { TransferLimits, TransferLine } from "#commit-index/order-transfer.ts";
import type { ResultKey } from "#commit-index/result-key.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { rest } from "#core/resting.ts";
import type { Service } from "#core/service.ts";
import type { Prefetch } from "../builds/build.ts";
import type { Transferred, TruncatedMark } from "../builds/report.ts";
import type { FetchedThing, GranaryFarm } from "../farm/granary-farm.ts";
import { type Arrival, noteArrivals } from "./arrivals.ts";
import { fetchWindow, type PrefetchStore } from "./fetch-window.ts";
import { foregroundPriority } from "./foreground-priority.ts";
import { preloadedFarm } from "./preloaded-farm.ts";
import { blobName, resultName, type SharedTransfers } from "./shared-transfers.ts";
import { type Expected, type QueuedResult, transferQueue } from "./transfer-queue.ts";

export interface PrefetchParts {
  readonly project: string;
  readonly store: PrefetchStore;
  readonly farm: Pick<GranaryFarm, "fetch" | "line" | "isAway">;
  /** Shared by all builds of the machine. */
  readonly shared: SharedTransfers;
  readonly limits: TransferLimits;
  /** The limit; undefined: none. */
  readonly bytesPerSecond?: number | undefined;
  /** Returns the time since the build's start. */
  readonly elapsedMs: () => number;
}

export interface Outlook {
  readonly expected: readonly Expected[];
  readonly line: TransferLine;
}

export interface RunningPrefetch extends Prefetch, Service {
  /** Adds what the build is expected to request, the best index first. */
  expect(
    entries: readonly ExpectedEntry[],
    mayHave?: (key: ResultKey) => boolean,
    /** The results that came along with the index; used first. */
    brought?: readonly FetchedThing[],
  ): void;
  /** Declares that no more expectations follow, with the reason if there were none. */
  planned(because: LateBecause | undefined): void;
  /** Notes that the build requests the result. */
  asked(key: ResultKey): void;
  /** Resolves when every expected result has arrived or failed. */
  settled(): Promise<void>;
  transferred(): Transferred;
  /** Yields expected and announced results as they arrive, until no more can arrive or the build ends. */
  arrivals(signal: AbortSignal): AsyncIterable<Arrival>;
  /** Returns the expected results by the time of their request in the index, with those present or still possible. Undefined before an index is read. */
  outlook(): Outlook | undefined;
  /** Resolves when an index has been read or there is none. */
  readonly known: Promise<void>;
}

/** Assumed until measured: a middling connection. */
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
const mostAwaited = 1_000;
const mostPlanningMs = 250;
const mostWindows = 4;
const restAfterFailureMs = 500;
const mostFailures = 5;

/** Starts prefetching for a build. Ends with the build or when nothing is left. */
export function startPrefetch(parts: PrefetchParts): RunningPrefetch {
  const { project, store, shared } = parts;
  const brought = preloadedFarm(parts.farm);
  const farm = { ...brought, line: () => parts.farm.line(), isAway: () => parts.farm.isAway() };
  const way = foregroundPriority();
  const end = new AbortController();
  const arrivals = noteArrivals();
  const blobs = new Map<string, Digest>();
  let isPlanned = false;
  let noPlanBecause: LateBecause | undefined;
  let failures = 0;
  let loop: Promise<void> | undefined;
  let whenSettled: (() => void)[] = [];
  /** Requested before the index was read. */
  const awaited: ResultKey[] = [];
  let isKnown = false;
  let tellKnown = () => {};
  const known = new Promise<void>((resolve) => {
    tellKnown = resolve;
  });
  const startedAt = performance.now();

  const line = (): TransferLine => {
    const measured = farm.line() ?? unknownLine;
    const most = parts.bytesPerSecond ?? Number.POSITIVE_INFINITY;
    return { ...measured, bytesPerSecond: Math.max(1, Math.min(measured.bytesPerSecond, most)) };
  };
  const missingBytes = (result: QueuedResult): number => {
    let bytes = store.has(project, result.key) ? 0 : recordBytes;
    for (const blob of result.blobs) if (!store.hasBlob(blob)) bytes += blob.sizeBytes || 1;
    return bytes;
  };
  const view = {
    missingBytes,
    line,
    elapsedMs: parts.elapsedMs,
    onHere: (key: ResultKey) => arrivals.isHere(key),
  };
  const queue = transferQueue(view, parts.limits);

  const isShared = () => leastWindowBytes <= (line().bytesPerSecond * sharedMs) / 1_000;
  const mayAsk = async () => (isShared() ? undefined : way.free());
  /** Half the size where the connection is shared, as two windows run at a time. */
  const windowBytes = () =>
    Math.max(
      leastWindowBytes,
      (line().bytesPerSecond * (way.isFree ? windowMs : sharedMs / 2)) / 1_000,
    );
  /** Enough windows that the connection is not idle for a round trip between them. */
  const windowsAtOnce = () =>
    way.isFree ? Math.min(mostWindows, 1 + Math.ceil(line().roundTripMs / windowMs)) : 2;

  async function oneWindow(items: readonly QueuedResult[]): Promise<void> {
    const { signal } = end;
    const most = windowBytes();
    const ended = await fetchWindow(
      {
        project,
        store,
        farm,
        shared,
        way,
        mayAsk,
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
    failures = ended.results.some(({ as }) => as === "again") ? failures + 1 : 0;
    if (failures > 0) await rest(restAfterFailureMs * failures, signal);
  }

  async function run(): Promise<void> {
    const underWay = new Set<Promise<void>>();
    const startedAt = performance.now();
    let asked = 0;
    while (!end.signal.aborted && failures < mostFailures) {
      await mayAsk();
      if (end.signal.aborted) break;
      if (parts.bytesPerSecond !== undefined) {
        const aheadMs = (asked / parts.bytesPerSecond) * 1_000 - (performance.now() - startedAt);
        if (aheadMs > 0) await rest(aheadMs, end.signal);
      }
      if (farm.isAway()) {
        await rest(restAfterFailureMs, end.signal);
        failures += 1;
        continue;
      }
      const items = queue.take(windowBytes(), mostWindowResults);
      if (items.length === 0) {
        if (underWay.size === 0) break;
        await Promise.race(underWay);
        continue;
      }
      asked += items.reduce((sum, item) => sum + missingBytes(item), 0);
      const window = oneWindow(items).finally(() => underWay.delete(window));
      underWay.add(window);
      if (underWay.size >= windowsAtOnce()) await Promise.race(underWay);
    }
    await Promise.all(underWay);
  }

  function wake(): void {
    if (loop !== undefined || end.signal.aborted || queue.isEmpty) return tellSettled();
    loop = run().finally(() => {
      loop = undefined;
      // New work may have been added during the last window.
      if (failures < mostFailures) wake();
      else tellSettled();
    });
  }

  /** Notes that an index has been read or there is none. Results for which the build waits go first. */
  function nowKnown(): void {
    isKnown = true;
    queue.hint(awaited.splice(0).filter((key) => queue.whyNot(key) === "overtaken"));
    wake();
    // After the first requests have been sent.
    setImmediate(tellKnown);
  }

  function tellSettled(): void {
    if (loop !== undefined || !(isPlanned || end.signal.aborted)) return;
    const all = whenSettled;
    whenSettled = [];
    for (const settled of all) settled();
    arrivals.look();
  }

  return {
    coming: (request) =>
      shared.coming("namespace" in request ? resultName(project, request) : blobName(request)),

    planning(key) {
      // After this time the build asks the farm directly, which may be silent.
      if (isKnown || performance.now() - startedAt > mostPlanningMs) return undefined;
      if (awaited.length < mostAwaited) awaited.push(key);
      return known;
    },

    leadMs: (key) => arrivals.agoMs(key),

    whyNot(key) {
      const known = queue.whyNot(key);
      if (known !== undefined) return known;
      // The index has not been read: the build is faster than the connection.
      if (!isPlanned) return farm.isAway() ? "farm-away" : "overtaken";
      return noPlanBecause ?? "not-indexed";
    },

    firstMs: (key) => queue.firstMs(key),

    blobsOf: (key) => queue.blobsOf(key),

    pauseForForeground: () => way.take(),

    hint(keys) {
      queue.hint(keys);
      wake();
    },

    expect(entries, mayHave, things = []) {
      queue.expect(entries, mayHave);
      brought.bring(things);
      queue.hint(
        things.flatMap((thing) =>
          // Some results of an ancestor's index do not apply any more.
          thing.kind === "result" && queue.firstMs(thing.result) !== undefined ? thing.result : [],
        ),
      );
      nowKnown();
    },

    planned(because) {
      isPlanned = true;
      noPlanBecause = because;
      nowKnown();
    },

    asked: (key) => queue.asked(key),

    settled() {
      return new Promise((resolve) => {
        whenSettled.push(resolve);
        tellSettled();
      });
    },

    transferred() {
      const truncated: TruncatedMark[] = [];
      if (queue.cut.bytes) truncated.push("prefetch-bytes");
      if (queue.cut.results) truncated.push("prefetch-results");
      return { blobs: [...blobs.values()], truncated };
    },

    outlook() {
      if (!isPlanned) return undefined;
      // Nothing arrives from an unreachable farm.
      return { expected: farm.isAway() ? [] : queue.outlook(), line: line() };
    },
    known,

    arrivals: (signal) =>
      arrivals.read(AbortSignal.any([signal, end.signal]), () => !isPlanned || loop !== undefined),

    async stop() {
      end.abort();
      tellKnown();
      tellSettled();
      await loop;
      arrivals.look();
    },
  };
}
