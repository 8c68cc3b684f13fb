import { Fault, type FaultCode } from "#core/fault.ts";
import { retryAfterMsOf } from "./forge-busy.ts";

/** A retry with the same commit would fail in the same way. */
const forGood: readonly FaultCode[] = [
  "invalid_argument",
  "failed_precondition",
  "unimplemented",
  "out_of_range",
  "already_exists",
];

/** Returns whether a retry is useless until a person changes something. */
export function isForGood(reason: unknown): boolean {
  return reason instanceof Fault && forGood.includes(reason.code);
}

const leastMs = 1_000;
const mostMs = 10 * 60_000;

/**
 * Returns the delay after this number of consecutive failures; never shorter than the forge requested. `chance` is in
 * [0, 1).
 */
export function tryAgainInMs(failures: number, reason: unknown, chance: number): number {
  const usual = Math.min(mostMs, leastMs * 2 ** Math.min(failures, 20));
  return Math.max(retryAfterMsOf(reason) ?? 0, Math.round(usual * (0.5 + chance / 2)));
}
