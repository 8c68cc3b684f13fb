import type { LateReason } from "#api/granary.ts";
import type { ExpectedEntry } from "#commit-index/filter-by-diff.ts";
import type { TransferLimits, TransferLine } from "#commit-index/order-transfer.ts";
import type { ResultKey } from "#commit-index/result-key.ts";
import type { Service } from "#core/service.ts";
import type { Prefetch } from "../builds/build.ts";
import type { Transferred, TruncatedMark } from "../builds/report.ts";
import type { FetchedThing, GranaryFarm } from "../farm/granary-farm.ts";
import { type Arrival, noteArrivals } from "./arrivals.ts";
import type { PrefetchStore } from "./fetch-window.ts";
import { foregroundPriority } from "./foreground-priority.ts";
import { lineWithin, missingBytes, noWindows, settleIfDone, wake } from "./prefetch-windows.ts";
import { preloadedFarm } from "./preloaded-farm.ts";
import { blobName, resultName, type SharedTransfers } from "./shared-transfers.ts";
import type { QueuedResult } from "./transfer-plan.ts";
import { type Expected, transferQueue } from "./transfer-queue.ts";

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
  /** Adds the expected requests of the build, the best index first. */
  expect(
    entries: readonly ExpectedEntry[],
    mayHave?: (key: ResultKey) => boolean,
    /** The results that arrived with the index; they are used first. */
    brought?: readonly FetchedThing[],
  ): void;
  /** Declares that no more expectations follow, with the reason if there were none. */
  planned(because: LateReason | undefined): void;
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

const mostAwaited = 1_000;
const mostPlanningMs = 250;

/** Starts prefetching for a build. Ends with the build or when nothing is left. */
export function startPrefetch(parts: PrefetchParts): RunningPrefetch {
  const { project, shared } = parts;
  const { brought, farm, arrivals, queue, priority, windows } = openTransfers(parts);
  let noPlanBecause: LateReason | undefined;
  const index = awaitedIndex();

  /** Notes that an index has been read or there is none. Results for which the build waits go first. */
  function onIndexKnown(): void {
    queue.hint(index.read().filter((key) => queue.whyNot(key) === "overtaken"));
    wake(windows);
    // After the first requests have been sent.
    setImmediate(index.resolveKnown);
  }

  return {
    coming: (request) =>
      shared.coming("namespace" in request ? resultName(project, request) : blobName(request)),

    planning: (key) => index.await(key),

    leadMs: (key) => arrivals.agoMs(key),

    whyNot(key) {
      const known = queue.whyNot(key);
      if (known !== undefined) return known;
      // The index has not been read: the build is faster than the connection.
      if (!windows.isPlanned) return farm.isAway() ? "farm-away" : "overtaken";
      return noPlanBecause ?? "not-indexed";
    },

    firstMs: (key) => queue.firstMs(key),

    blobsOf: (key) => queue.blobsOf(key),

    pauseForForeground: () => priority.take(),

    hint(keys) {
      queue.hint(keys);
      wake(windows);
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
      onIndexKnown();
    },

    planned(because) {
      windows.isPlanned = true;
      noPlanBecause = because;
      onIndexKnown();
    },

    asked: (key) => queue.asked(key),

    settled() {
      return new Promise((resolve) => {
        windows.whenSettled.push(resolve);
        settleIfDone(windows);
      });
    },

    transferred: () => ({
      blobs: [...windows.blobs.values()],
      truncated: truncatedMarks(queue.cut),
    }),

    outlook() {
      if (!windows.isPlanned) return undefined;
      // Nothing arrives from an unreachable farm.
      return { expected: farm.isAway() ? [] : queue.outlook(), line: lineWithin(windows) };
    },
    known: index.known,

    arrivals: (signal) =>
      arrivals.read(
        AbortSignal.any([signal, windows.end.signal]),
        () => !windows.isPlanned || windows.loop !== undefined,
      ),

    async stop() {
      windows.end.abort();
      index.resolveKnown();
      settleIfDone(windows);
      await windows.loop;
      arrivals.look();
    },
  };
}

/** Returns the parts through which results are transferred; nothing is queued yet. */
function openTransfers(parts: PrefetchParts) {
  const { project, store, shared, bytesPerSecond } = parts;
  const brought = preloadedFarm(parts.farm);
  const farm = { ...brought, line: () => parts.farm.line(), isAway: () => parts.farm.isAway() };
  const arrivals = noteArrivals();
  const view = {
    missingBytes: (result: QueuedResult) => missingBytes(parts, result),
    line: () => lineWithin({ farm, bytesPerSecond }),
    elapsedMs: parts.elapsedMs,
    onHere: (key: ResultKey) => arrivals.isHere(key),
  };
  const queue = transferQueue(view, parts.limits);
  const priority = foregroundPriority();
  const windows = noWindows({
    project,
    store,
    farm,
    shared,
    bytesPerSecond,
    queue,
    arrivals,
    priority,
  });
  return { brought, farm, arrivals, queue, priority, windows };
}

/** The wait for the commit's index. Collects the results that the build requests before the index is read. */
function awaitedIndex() {
  const awaited: ResultKey[] = [];
  const startedAt = performance.now();
  let isRead = false;
  let resolveKnown = () => {};
  const known = new Promise<void>((resolve) => {
    resolveKnown = resolve;
  });
  return {
    known,
    resolveKnown: () => resolveKnown(),
    /** Returns the promise that a request waits for; undefined when the index was read, or has taken too long. */
    await(key: ResultKey): Promise<void> | undefined {
      // After this time the build sends a request to the farm, which may be silent.
      if (isRead || performance.now() - startedAt > mostPlanningMs) return undefined;
      if (awaited.length < mostAwaited) awaited.push(key);
      return known;
    },
    /**
     * Notes that the index was read. Returns the results that were requested before the index was
     * read.
     */
    read(): ResultKey[] {
      isRead = true;
      return awaited.splice(0);
    },
  };
}

function truncatedMarks(cut: { readonly bytes: boolean; readonly results: boolean }) {
  const marks: TruncatedMark[] = [];
  if (cut.bytes) marks.push("prefetch-bytes");
  if (cut.results) marks.push("prefetch-results");
  return marks;
}
