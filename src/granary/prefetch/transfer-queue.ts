import type { LateBecause } from "#api/granary.ts";
import { observedScale } from "#commit-index/demand-scale.ts";
import type { ExpectedEntry } from "#commit-index/filter-by-diff.ts";
import {
  type LeftOutBecause,
  orderTransfer,
  type TransferLimits,
  type TransferLine,
} from "#commit-index/order-transfer.ts";
import { keyText, type ResultKey } from "#commit-index/result-key.ts";
import type { Digest } from "#core/digest.ts";
import { isPlanOld, type PlanBasis } from "./plan-age.ts";

/** A result to prefetch, with the blobs that are likely to be read. */
export interface QueuedResult {
  readonly key: ResultKey;
  readonly blobs: readonly Digest[];
  readonly firstMs: number;
  readonly savedMs: number | undefined;
  readonly confidence: number;
}

type State =
  | { readonly kind: "waiting" }
  | { readonly kind: "under-way" }
  | { readonly kind: "here" }
  // The build requested it before it was fetched.
  | { readonly kind: "overtaken" }
  | { readonly kind: "left-out"; readonly because: LeftOutBecause }
  // The farm does not have it.
  | { readonly kind: "absent"; readonly because: LateBecause };

/** How a transfer ended; `again`: it was interrupted. */
export type Settled = "here" | "again" | LateBecause;

export interface QueueView {
  /** The bytes to transfer for the result; 0 if it is present. */
  missingBytes(result: QueuedResult): number;
  line(): TransferLine;
  elapsedMs(): number;
  /** Called when an expected result is present, from before or now. */
  onHere(key: ResultKey): void;
}

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
  whyNot(key: ResultKey): LateBecause | undefined;
  /** What an index names of it; empty when none does. */
  blobsOf(key: ResultKey): readonly Digest[];
  /** When the indexed builds requested it, in ms from their start. */
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
/** After so many failures a result is left to the build's own request. */
const mostTries = 3;

/** Returns the queue that decides in which order results are prefetched. Pure: time and state of the store are arguments. */
export function transferQueue(view: QueueView, limits: TransferLimits): TransferQueue {
  const states = new Map<string, State>();
  const expected = new Map<string, QueuedResult>();
  const tries = new Map<string, number>();
  let hints: QueuedResult[] = [];
  let firstHint = 0;
  /** Undefined when a new plan is due. */
  let plan: QueuedResult[] | undefined;
  let basis: PlanBasis | undefined;
  let overtakenSincePlan = 0;
  let underWay = 0;
  const used = { bytes: 0, results: 0 };
  /** The times of the build's last requests beside those of the index. */
  const pace: { readonly firstMs: number; readonly atMs: number }[] = [];
  const cut = { bytes: false, results: false };

  const stateOf = (key: ResultKey) => states.get(keyText(key));
  const isHereNow = (key: ResultKey) => {
    states.set(keyText(key), { kind: "here" });
    view.onHere(key);
  };

  function makePlan(): QueuedResult[] {
    const line = view.line();
    const open = [...expected.values()].filter(({ key }) => {
      const state = stateOf(key);
      return state?.kind === "waiting" || state?.kind === "left-out";
    });
    const left = {
      bytes: Math.max(0, limits.bytes - used.bytes),
      results: Math.max(0, limits.results - used.results),
    };
    const wanted = open.map((item) => ({
      item,
      bytes: view.missingBytes(item),
      firstMs: item.firstMs,
      savedMs: item.savedMs,
      confidence: item.confidence,
    }));
    for (const { item, bytes } of wanted) {
      if (bytes === 0) isHereNow(item.key);
    }
    const seen = observedScale(pace);
    const { order, leftOut, demandScale } = orderTransfer(
      wanted.filter(({ bytes }) => bytes > 0),
      {
        line,
        limits: left,
        elapsedMs: view.elapsedMs(),
        ...(open.every(({ key }) => key.namespace === "dune") ? { toleratedMs: 0 } : {}),
        ...(seen === undefined ? {} : { demandScale: seen }),
      },
    );
    pace.length = 0;
    for (const { key } of order) states.set(keyText(key), { kind: "waiting" });
    for (const { item, because } of leftOut) {
      states.set(keyText(item.key), { kind: "left-out", because });
      if (because !== "over-budget") continue;
      if (order.length >= left.results) cut.results = true;
      else cut.bytes = true;
    }
    basis = { line, demandScale };
    overtakenSincePlan = 0;
    return [...order].reverse();
  }

  const sincePlan = ({ length }: readonly QueuedResult[]) => ({
    line: view.line(),
    demandScale: observedScale(pace),
    waiting: length,
    overtaken: overtakenSincePlan,
  });

  /** Returns the next queued result without taking it. */
  function peek(): QueuedResult | undefined {
    for (; firstHint < hints.length; firstHint++) {
      const one = hints[firstHint];
      if (one !== undefined && stateOf(one.key)?.kind === "waiting") return one;
    }
    hints = [];
    firstHint = 0;
    if (expected.size === 0) return undefined;
    if (plan === undefined || basis === undefined || isPlanOld(basis, sincePlan(plan))) {
      plan = makePlan();
    }
    for (let one = plan?.at(-1); one !== undefined; one = plan?.at(-1)) {
      if (stateOf(one.key)?.kind === "waiting") return one;
      plan?.pop();
    }
    return undefined;
  }

  function drop(): void {
    if (firstHint < hints.length) firstHint += 1;
    else plan?.pop();
  }

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
      plan = undefined;
    },

    hint(keys) {
      for (const key of keys) {
        if (hints.length >= mostHints) return;
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
          isHereNow(result.key);
          continue;
        }
        states.set(name, { kind: "waiting" });
        hints.push(result);
      }
    },

    take(mostBytes, mostResults) {
      const taken: QueuedResult[] = [];
      let bytes = 0;
      while (taken.length < mostResults) {
        const next = peek();
        if (next === undefined) break;
        const size = view.missingBytes(next);
        if (size === 0) {
          isHereNow(next.key);
          drop();
          continue;
        }
        // The limits were applied to indexed results when they were planned; announced ones are checked here.
        if (used.results >= limits.results || used.bytes + bytes + size > limits.bytes) {
          if (used.results >= limits.results) cut.results = true;
          else cut.bytes = true;
          states.set(keyText(next.key), { kind: "left-out", because: "over-budget" });
          drop();
          continue;
        }
        if (taken.length > 0 && bytes + size > mostBytes) break;
        drop();
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
        isHereNow(result.key);
      } else if (as === "again") {
        used.results -= 1;
        const times = (tries.get(name) ?? 0) + 1;
        tries.set(name, times);
        if (times >= mostTries) {
          states.set(name, { kind: "absent", because: "farm-away" });
          return;
        }
        states.set(name, { kind: "waiting" });
        if (expected.has(name)) plan?.push(result);
        else hints.push(result);
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
      overtakenSincePlan += 1;
    },

    firstMs: (key) => expected.get(keyText(key))?.firstMs,

    outlook: () =>
      [...expected.values()].flatMap((item): Expected[] => {
        const { key, firstMs } = item;
        switch (stateOf(key)?.kind) {
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
      const state = stateOf(key);
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
      return peek() === undefined;
    },
    get underWay() {
      return underWay;
    },
    cut,
  };
}
