import { machineRestMs } from "#core/backoff.ts";
import { Fault, type FaultCode } from "#core/fault.ts";

/** The known state of the connection to the farm. */
export type Circuit =
  | { readonly kind: "closed" }
  /** No calls are made before `until`. */
  | { readonly kind: "open"; readonly failures: number; readonly until: number }
  /** One call tests in the background whether the farm is back; nothing waits for it. */
  | { readonly kind: "probing"; readonly failures: number };

export const closed: Circuit = { kind: "closed" };

/** Concurrent failed calls count as one failure: only a probe's failure is added to earlier ones. */
export function afterFailure(circuit: Circuit, now: number, chance: number): Circuit {
  if (circuit.kind === "open") return circuit;
  const failures = circuit.kind === "closed" ? 1 : circuit.failures + 1;
  return { kind: "open", failures, until: now + machineRestMs(failures, chance) };
}

export function isTimeToProbe(circuit: Circuit, now: number): boolean {
  return circuit.kind === "open" && now >= circuit.until;
}

/** Failures of the farm or the network. Other codes concern the call, which the farm has answered. */
const awayCodes: ReadonlySet<FaultCode> = new Set([
  "unavailable",
  "deadline_exceeded",
  "internal",
  "resource_exhausted",
  // An invalid token is refused for every call, so repeated calls are useless.
  "unauthenticated",
]);

export function meansUnreachable(reason: unknown): boolean {
  return !(reason instanceof Fault) || awayCodes.has(reason.code);
}
