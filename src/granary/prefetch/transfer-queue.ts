import type { LateReason } from "#api/granary.ts";
import type { ExpectedEntry } from "#commit-index/filter-by-diff.ts";
import type { TransferLimits } from "#commit-index/order-transfer.ts";
import { keyText, type ResultKey } from "#commit-index/result-key.ts";
import type { Digest } from "#core/digest.ts";
import {
  drop,
  markHere,
  noTransfers,
  peek,
  type QueuedResult,
  type QueueView,
  stateOf,
} from "./transfer-plan.ts";

/** How a transfer ended; `again`: it was interrupted. */
export type Settled = "here" | "again" | LateReason;

/** An entry of an index that is present or may still arrive. */
export interface Expected {
  readonly key: ResultKey;
  readonly firstMs: number;
  readonly isHere: boolean;
  /** The bytes still to be transferred. */
  readonly bytes: number;
}

export interface TransferQueue {
  /** Adds the entries of an index. Present results are never awaited. */
  expect(entries: readonly ExpectedEntry[], mayHave?: (key: ResultKey) => boolean): void;
  /** Adds announced results, which go before expected ones. */
  hint(keys: readonly ResultKey[]): void;
  /** Takes the next results, up to the given size but at least one; empty if none is queued. */
  take(mostBytes: number, mostResults: number): QueuedResult[];
  settle(result: QueuedResult, as: Settled, bytes: number): void;
  /** Notes a request of the build. A queued result is dropped, as the build fetches it itself. */
  asked(key: ResultKey): void;
  whyNot(key: ResultKey): LateReason | undefined;
  /** Returns the blobs that an index names for it; empty without one. */
  blobsOf(key: ResultKey): readonly Digest[];
  /** Returns when the index's builds requested it, in ms from their start. */
  firstMs(key: ResultKey): number | undefined;
  outlook(): Expected[];
  /** Whether nothing is queued. */
  readonly isEmpty: boolean;
  readonly underWay: number;
  readonly cut: { readonly bytes: boolean; readonly results: boolean };
}

/** The most announced results in the queue. */
const mostHints = 100_000;
/** The number of last requests from which the build's speed is estimated. */
const mostPace = 64;
/** After this many failures, a result is left to the build's own request. */
const mostTries = 3;

/** Returns the queue that decides in which order results are prefetched. Pure: time and state of the store are arguments. */
export function transferQueue(view: QueueView, limits: TransferLimits): TransferQueue {
  const transfers = noTransfers(view, limits);
  const { states, expected, used, pace, cut } = transfers;
  const tries = new Map<string, number>();
  let underWay = 0;

  return {
    expect(entries, mayHave) {
      for (const { entry, confidence } of entries) {
        const name = keyText(entry);
        if (expected.has(name)) continue;
        const { namespace, key, blobs, firstMs, savedMs } = entry;
        expected.set(name, { key: { namespace, key }, blobs, firstMs, savedMs, confidence });
        if (states.has(name)) continue;
        const mayBe = mayHave?.(entry) ?? true;
        states.set(name, mayBe ? { kind: "waiting" } : { kind: "absent", because: "never-made" });
      }
      transfers.plan = undefined;
    },

    hint(keys) {
      for (const key of keys) {
        if (transfers.hints.length >= mostHints) return;
        const name = keyText(key);
        const known = expected.get(name);
        const result = known ?? {
          key: { namespace: key.namespace, key: key.key },
          blobs: [],
          firstMs: view.elapsedMs(),
          savedMs: undefined,
          confidence: 1,
        };
        const state = states.get(name);
        if (state !== undefined && state.kind !== "waiting" && state.kind !== "left-out") continue;
        if (view.missingBytes(result) === 0) {
          markHere(transfers, result.key);
          continue;
        }
        states.set(name, { kind: "waiting" });
        transfers.hints.push(result);
      }
    },

    take(mostBytes, mostResults) {
      const taken: QueuedResult[] = [];
      let bytes = 0;
      while (taken.length < mostResults) {
        const next = peek(transfers);
        if (next === undefined) break;
        const size = view.missingBytes(next);
        if (size === 0) {
          markHere(transfers, next.key);
          drop(transfers);
          continue;
        }
        // The limits were applied to indexed results when they were planned; announced ones are checked here.
        if (used.results >= limits.results || used.bytes + bytes + size > limits.bytes) {
          if (used.results >= limits.results) cut.results = true;
          else cut.bytes = true;
          states.set(keyText(next.key), { kind: "left-out", because: "over-budget" });
          drop(transfers);
          continue;
        }
        if (taken.length > 0 && bytes + size > mostBytes) break;
        drop(transfers);
        states.set(keyText(next.key), { kind: "under-way" });
        taken.push(next);
        bytes += size;
        used.results += 1;
      }
      underWay += taken.length;
      return taken;
    },

    settle(result, as, bytes) {
      const name = keyText(result.key);
      underWay -= 1;
      used.bytes += bytes;
      if (as === "here") {
        markHere(transfers, result.key);
      } else if (as === "again") {
        used.results -= 1;
        const times = (tries.get(name) ?? 0) + 1;
        tries.set(name, times);
        if (times >= mostTries) {
          states.set(name, { kind: "absent", because: "farm-away" });
          return;
        }
        states.set(name, { kind: "waiting" });
        if (expected.has(name)) transfers.plan?.push(result);
        else transfers.hints.push(result);
      } else {
        states.set(name, { kind: "absent", because: as });
      }
    },

    asked(key) {
      const name = keyText(key);
      const known = expected.get(name);
      if (known !== undefined && pace.length < mostPace) {
        pace.push({ firstMs: known.firstMs, atMs: view.elapsedMs() });
      }
      if (states.get(name)?.kind !== "waiting") return;
      states.set(name, { kind: "overtaken" });
      transfers.overtakenSincePlan += 1;
    },

    firstMs: (key) => expected.get(keyText(key))?.firstMs,

    outlook: () =>
      [...expected.values()].flatMap((item): Expected[] => {
        const { key, firstMs } = item;
        switch (stateOf(transfers, key)?.kind) {
          case "here":
            return [{ key, firstMs, isHere: true, bytes: 0 }];
          case "waiting":
          case "under-way":
            return [{ key, firstMs, isHere: false, bytes: view.missingBytes(item) }];
          case "overtaken":
          case "left-out":
          case "absent":
          case undefined:
            return [];
        }
      }),

    blobsOf: (key) => expected.get(keyText(key))?.blobs ?? [],

    whyNot(key) {
      const state = stateOf(transfers, key);
      switch (state?.kind) {
        case undefined:
          return undefined;
        case "left-out":
          return "over-budget";
        case "absent":
          return state.because;
        case "waiting":
        case "under-way":
        case "overtaken":
        case "here":
          return "overtaken";
      }
    },

    get isEmpty() {
      return peek(transfers) === undefined;
    },
    get underWay() {
      return underWay;
    },
    cut,
  };
}
