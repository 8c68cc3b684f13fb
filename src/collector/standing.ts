import { Fault, type FaultCode } from "#core/fault.ts";

/**
 * `away`: the same call may succeed later. `lost`: it now belongs to another process. `refused`: it will never succeed.
 */
type Standing = "away" | "lost" | "refused";

const standings: Partial<Record<FaultCode, Standing>> = {
  aborted: "lost",
  not_found: "lost",
  invalid_argument: "refused",
  failed_precondition: "refused",
  out_of_range: "refused",
  already_exists: "refused",
  unimplemented: "refused",
};

/**
 * Returns the consequence of a failed call for its job.
 *
 * A refused token counts as an unreachable farm: it may be repaired, and the results of hours of measuring wait for
 * that on disk.
 */
export function standingOf(reason: unknown): Standing {
  return (reason instanceof Fault && standings[reason.code]) || "away";
}

/** Returns whether the first registration may be retried later: not for an unregistered name or a wrong token. */
export function mayRegisterLater(reason: unknown): boolean {
  if (!(reason instanceof Fault)) return true;
  if (reason.code === "unauthenticated" || reason.code === "permission_denied") return false;
  return standingOf(reason) === "away";
}

/**
 * Returns whether an error may be temporary: an unreachable network, a full disk. Other errors of an artifact are
 * permanent.
 */
export function isTransient(reason: unknown): boolean {
  if (!(reason instanceof Fault)) return true;
  return transient.has(reason.code);
}

const transient: ReadonlySet<FaultCode> = new Set([
  "unavailable",
  "deadline_exceeded",
  "resource_exhausted",
  "aborted",
  "cancelled",
  "internal",
]);

/**
 * Returns whether the test itself failed, which is a result. Otherwise the machine or the network failed, and the test
 * is repeated. A timeout is a failure of the test itself; sources that cannot be fetched are `unavailable`.
 */
export function isOfTheTest(reason: unknown): boolean {
  return reason instanceof Fault && reason.code !== "unavailable" && reason.code !== "internal";
}
