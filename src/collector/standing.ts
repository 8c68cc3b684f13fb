import { Fault, type FaultCode } from "#core/fault.ts";

/**
 * `away`: the same call may succeed later. `lost`: it belongs to another process by now. `refused`: it will never
 * succeed.
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

/** Whether a first hello may be repeated later: not for an unregistered name, or a wrong token. */
export function mayDoLater(reason: unknown): boolean {
  if (!(reason instanceof Fault)) return true;
  if (reason.code === "unauthenticated" || reason.code === "permission_denied") return false;
  return standingOf(reason) === "away";
}

/** Returns whether an error may pass: an unreachable network, a full disk. Other errors of an artifact stay. */
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
 * Whether a test failed by itself, which is a result; else the machine or the network did, and it is measured
 * again. A test that took too long failed by itself: sources that cannot be got are `unavailable`.
 */
export function isOfTheTest(reason: unknown): boolean {
  return reason instanceof Fault && reason.code !== "unavailable" && reason.code !== "internal";
}
