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
import { broughtFirst } from "./brought-first.ts";
import { fetchWindow, type PrefetchStore } from "./fetch-window.ts";
import { rightOfWay } from "./right-of-way.ts";
import { blobName, resultName, type SharedTransfers } from "./shared-transfers.ts";
import { type Expected, type QueuedResult, transferQueue } from "./transfer-queue.ts";

export interface PrefetchParts {
  readonly project: string;
  readonly store: PrefetchStore;
  readonly farm: Pick<GranaryFarm, "fetch" | "line" | "isAway">;
  /** One for the machine. */
  readonly shared: SharedTransfers;
  readonly limits: TransferLimits;
  /** At most so much of the line; undefined: all of it. */
  readonly bytesPerSecond?: number | undefined;
  /** Since the build's start. */
  readonly elapsedMs: () => number;
}

export interface Outlook {
  readonly expected: readonly Expected[];
  readonly line: TransferLine;
}

export interface RunningPrefetch extends Prefetch, Service {
  /** What the build is expected to ask for, the best index's first. */
  expect(
    entries: readonly ExpectedEntry[],
    mayHave?: (key: ResultKey) => boolean,
    /** What of it came along: taken first. */
    brought?: readonly FetchedThing[],
  ): void;
  /** Nothing will be expected (or no more). Until then, nobody knows what is not indexed. */
  planned(because: LateBecause | undefined): void;
  /** The build asks for it. */
  asked(key: ResultKey): void;
  /** Resolves when all that was expected is here or will not come. */
  settled(): Promise<void>;
  transferred(): Transferred;
  /** What is expected or hinted at, as soon as it is here; ends when no more will come, or the build is over. */
  arrivals(signal: AbortSignal): AsyncIterable<Arrival>;
  /** What is expected, by when the index's builds asked for it: what of it is here, or may still come. Undefined while nobody knows. */
  outlook(): Outlook | undefined;
  /** Resolves once an index has been read, or there is none. */
  readonly known: Promise<void>;
}

/** What is not measured yet: the middle of what the farm's users have, and soon replaced by what is. */
const unknownLine: TransferLine = { roundTripMs: 20, bytesPerSecond: 12_500_000 };
/** A result without its blobs: a name, a digest or a few, in a packed stream. */
const recordBytes = 256;
/** A build's own request finds the line taken for no longer than this, … */
const windowMs = 100;
/** … or for so much: smaller windows would leave the line idle between them. */
const leastWindowBytes = 256 * 1024;
/**
 * A line that brings the least window in this time is shared: a build's own request finds it taken for no longer. To stop
 * altogether would leave a build that is once ahead of us to itself for good, as there is always one of its requests
 * under way then (measured: 158 of 300 results came late).
 */
const sharedMs = 50;
const mostWindowResults = 2_000;
const mostAwaited = 1_000;
const mostPlanningMs = 250;
const mostWindows = 4;
const restAfterFailureMs = 500;
const mostFailures = 5;

/** Fetches for a build, ahead of it. Ends with the build, or when there is nothing left to fetch. */
export function startPrefetch(parts: PrefetchParts): RunningPrefetch {
  const { project, store, shared } = parts;
  const brought = broughtFirst(parts.farm);
  const farm = { ...brought, line: () => parts.farm.line(), isAway: () => parts.farm.isAway() };
  const way = rightOfWay();
  const end = new AbortController();
  const arrivals = noteArrivals();
  const blobs = new Map<string, Digest>();
  let isPlanned = false;
  let noPlanBecause: LateBecause | undefined;
  let failures = 0;
  let loop: Promise<void> | undefined;
  let whenSettled: (() => void)[] = [];
  /** Asked for before anybody knew what the index names. */
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
  /** Two at a time where the line is shared: together they take it for no longer than that. */
  const windowBytes = () =>
    Math.max(
      leastWindowBytes,
      (line().bytesPerSecond * (way.isFree ? windowMs : sharedMs / 2)) / 1_000,
    );
  /** While the answer to one window is awaited, the next is asked for: else the line rests for a round trip each. */
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
        // Not only when its window ends: who hands it on to a tool has the time of the rest for that.
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
      // Something may have come while the last window was under way.
      if (failures < mostFailures) wake();
      else tellSettled();
    });
  }

  /** An index has been read, or there is none. What the build waits for goes first. */
  function nowKnown(): void {
    isKnown = true;
    queue.hint(awaited.splice(0).filter((key) => queue.whyNot(key) === "overtaken"));
    wake();
    // Once what is asked for first is on its way.
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
    coming: (wish) =>
      shared.coming("namespace" in wish ? resultName(project, wish) : blobName(wish)),

    planning(key) {
      // A farm that takes longer is asked directly as well: it may be silent.
      if (isKnown || performance.now() - startedAt > mostPlanningMs) return undefined;
      if (awaited.length < mostAwaited) awaited.push(key);
      return known;
    },

    leadMs: (key) => arrivals.agoMs(key),

    whyNot(key) {
      const known = queue.whyNot(key);
      if (known !== undefined) return known;
      // Nobody knows yet what the index names: the build is faster than the line.
      if (!isPlanned) return farm.isAway() ? "farm-away" : "overtaken";
      return noPlanBecause ?? "not-indexed";
    },

    firstMs: (key) => queue.firstMs(key),

    blobsOf: (key) => queue.blobsOf(key),

    giveWay: () => way.take(),

    hint(keys) {
      queue.hint(keys);
      wake();
    },

    expect(entries, mayHave, things = []) {
      queue.expect(entries, mayHave);
      brought.bring(things);
      queue.hint(
        things.flatMap((thing) =>
          // Of an ancestor's, some are of no use any more.
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
      // From a farm that is away nothing comes that could be waited for.
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
