import { Fault, type FaultCode } from "#core/fault.ts";
import { isFullDisk } from "#core/full-disk.ts";
import type { Refusal } from "../tool-rules.ts";

/** The HTTP statuses for fault codes, as clients of file caches interpret them. */
const statusOf: Record<FaultCode, number> = {
  invalid_argument: 400,
  not_found: 404,
  already_exists: 409,
  permission_denied: 403,
  unauthenticated: 401,
  failed_precondition: 409,
  aborted: 503,
  /** Used only for bodies that are too large. */
  out_of_range: 413,
  resource_exhausted: 429,
  cancelled: 499,
  deadline_exceeded: 504,
  unimplemented: 501,
  unavailable: 503,
  data_loss: 404,
  internal: 500,
};

export function refusalOf(reason: unknown): Refusal {
  const fault = reason instanceof Fault ? reason : Fault.from(reason, "the cache failed");
  const status = isFullDisk(fault) ? 507 : statusOf[fault.code];
  return { status, code: fault.code, message: fault.message };
}
