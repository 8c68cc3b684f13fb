import { Fault } from "#core/fault.ts";
import { retryAfterMsOf } from "../forge-busy.ts";
import { isForGood as isForGoodAnywhere, tryAgainInMs } from "../when-to-try-again.ts";

/** The object may have been removed between reading and writing. */
const mostNotFound = 3;
/** The limit for internal errors; for an unreachable forge there is none. */
const mostInternal = 10;

/** The decision about a row that could not be sent. */
interface AfterFailure {
  readonly isForGood: boolean;
  readonly waitMs: number;
  /** The forge requested a pause: nothing else is sent there meanwhile. */
  readonly isBusy: boolean;
}

/** `attempts`: the number of earlier failures. */
export function afterFailure(reason: unknown, attempts: number, chance: number): AfterFailure {
  const code = reason instanceof Fault ? reason.code : "internal";
  const isForGood =
    isForGoodAnywhere(reason) ||
    // Until a person changes something at the forge.
    code === "permission_denied" ||
    (code === "not_found" && attempts + 1 >= mostNotFound) ||
    (code === "internal" && attempts + 1 >= mostInternal);
  return {
    isForGood,
    waitMs: tryAgainInMs(attempts, reason, chance),
    isBusy: retryAfterMsOf(reason) !== undefined,
  };
}
