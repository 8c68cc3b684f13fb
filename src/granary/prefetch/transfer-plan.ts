import type { LateReason } from "#api/granary.ts";
import { observedScale } from "#commit-index/demand-scale.ts";
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
  | { readonly kind: "absent"; readonly because: LateReason };

export interface QueueView {
  /** The bytes to transfer for the result; 0 if it is present. */
  missingBytes(result: QueuedResult): number;
  line(): TransferLine;
  elapsedMs(): number;
  /** Called when an expected result is present, from before or now. */
  onHere(key: ResultKey): void;
}

/** Which results are queued, and in which order they are fetched. */
interface TransferState {
  readonly view: QueueView;
  readonly limits: TransferLimits;
  readonly states: Map<string, State>;
  /** The results that indexes name. */
  readonly expected: Map<string, QueuedResult>;
  /** Announced results, which go before expected ones; those before `firstHint` are taken. */
  hints: QueuedResult[];
  firstHint: number;
  /** Expected results, the next one last. Undefined when a new plan is due. */
  plan: QueuedResult[] | undefined;
  basis: PlanBasis | undefined;
  overtakenSincePlan: number;
  readonly used: { bytes: number; results: number };
  /** The times of the build's last requests, each with the time in the index. */
  readonly pace: { readonly firstMs: number; readonly atMs: number }[];
  /** The limits that left results out. */
  readonly cut: { bytes: boolean; results: boolean };
}

export function noTransfers(view: QueueView, limits: TransferLimits): TransferState {
  return {
    view,
    limits,
    states: new Map(),
    expected: new Map(),
    hints: [],
    firstHint: 0,
    plan: undefined,
    basis: undefined,
    overtakenSincePlan: 0,
    used: { bytes: 0, results: 0 },
    pace: [],
    cut: { bytes: false, results: false },
  };
}

export function stateOf({ states }: TransferState, key: ResultKey): State | undefined {
  return states.get(keyText(key));
}

export function markHere({ states, view }: TransferState, key: ResultKey): void {
  states.set(keyText(key), { kind: "here" });
  view.onHere(key);
}

/** Returns the next queued result without taking it. */
export function peek(transfers: TransferState): QueuedResult | undefined {
  for (; transfers.firstHint < transfers.hints.length; transfers.firstHint++) {
    const one = transfers.hints[transfers.firstHint];
    if (one !== undefined && stateOf(transfers, one.key)?.kind === "waiting") return one;
  }
  transfers.hints = [];
  transfers.firstHint = 0;
  if (transfers.expected.size === 0) return undefined;
  if (
    transfers.plan === undefined ||
    transfers.basis === undefined ||
    isPlanOld(transfers.basis, sincePlan(transfers, transfers.plan))
  ) {
    transfers.plan = makePlan(transfers);
  }
  for (let one = transfers.plan?.at(-1); one !== undefined; one = transfers.plan?.at(-1)) {
    if (stateOf(transfers, one.key)?.kind === "waiting") return one;
    transfers.plan?.pop();
  }
  return undefined;
}

/** Takes what `peek` returned. */
export function drop(transfers: TransferState): void {
  if (transfers.firstHint < transfers.hints.length) transfers.firstHint += 1;
  else transfers.plan?.pop();
}

function makePlan(transfers: TransferState): QueuedResult[] {
  const { view, limits, used, states, expected, pace, cut } = transfers;
  const line = view.line();
  const open = [...expected.values()].filter(({ key }) => {
    const state = stateOf(transfers, key);
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
    if (bytes === 0) markHere(transfers, item.key);
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
  transfers.basis = { line, demandScale };
  transfers.overtakenSincePlan = 0;
  return [...order].reverse();
}

function sincePlan(transfers: TransferState, { length }: readonly QueuedResult[]) {
  return {
    line: transfers.view.line(),
    demandScale: observedScale(transfers.pace),
    waiting: length,
    overtaken: transfers.overtakenSincePlan,
  };
}
