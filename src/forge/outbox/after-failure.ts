import { Fault } from "#core/fault.ts";
import { retryAfterMsOf } from "../forge-busy.ts";
import { isForGood as isForGoodAnywhere, tryAgainInMs } from "../when-to-try-again.ts";

/** What is gone may have gone just between looking and writing. */
const mostNotFound = 3;
/** Of failures of our own making; a forge that is away is waited for without end. */
const mostInternal = 10;

/** What follows from a row that could not be sent. */
export interface AfterFailure {
  readonly isForGood: boolean;
  readonly waitMs: number;
  /** The forge asked to be left alone: nothing else is sent there meanwhile. */
  readonly isBusy: boolean;
}

/** `attempts`: how many failed before. */
export function afterFailure(reason: unknown, attempts: number, chance: number): AfterFailure {
  const code = reason instanceof Fault ? reason.code : "internal";
  const isForGood =
    isForGoodAnywhere(reason) ||
    // Until somebody changes something at the forge.
    code === "permission_denied" ||
    (code === "not_found" && attempts + 1 >= mostNotFound) ||
    (code === "internal" && attempts + 1 >= mostInternal);
  return {
    isForGood,
    waitMs: tryAgainInMs(attempts, reason, chance),
    isBusy: retryAfterMsOf(reason) !== undefined,
  };
}
