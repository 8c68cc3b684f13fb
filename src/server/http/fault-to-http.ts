import type { Failure } from "#api/failure.ts";
import { Fault, type FaultCode } from "#core/fault.ts";
import { isFullDisk } from "#core/full-disk.ts";
import { BodyTooLarge } from "./body-too-large.ts";

/** HTTP's statuses for our codes, after the mapping in google.rpc.Code. */
const statusOf: Record<FaultCode, number> = {
  invalid_argument: 400,
  not_found: 404,
  already_exists: 409,
  permission_denied: 403,
  unauthenticated: 401,
  failed_precondition: 409,
  aborted: 409,
  out_of_range: 416,
  resource_exhausted: 429,
  cancelled: 499,
  deadline_exceeded: 504,
  unimplemented: 501,
  unavailable: 503,
  data_loss: 500,
  internal: 500,
};

export function faultToHttp(reason: unknown): { status: number; body: Failure } {
  const fault = reason instanceof Fault ? reason : Fault.from(reason, "the server failed");
  const problems = problemsOf(fault);
  return {
    status: statusFor(fault),
    body: {
      error: { code: fault.code, message: fault.message, ...(problems ? { problems } : {}) },
    },
  };
}

/** More precise than the code when one code corresponds to several HTTP statuses. */
function statusFor(fault: Fault): number {
  if (fault instanceof BodyTooLarge) return 413;
  // Not 429: sending less, or later, does not help the client.
  if (isFullDisk(fault)) return 507;
  return statusOf[fault.code];
}

type Problems = NonNullable<Failure["error"]["problems"]>;

/** A fault about a user's own files contains the positions in them. */
function problemsOf(fault: Fault): Problems | undefined {
  return "problems" in fault && Array.isArray(fault.problems)
    ? (fault.problems as Problems)
    : undefined;
}
