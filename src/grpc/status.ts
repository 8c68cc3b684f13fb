import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Fault, type FaultCode } from "#core/fault.ts";
import { Code } from "#proto/google/rpc/code_pb.ts";
import { type Status, StatusSchema } from "#proto/google/rpc/status_pb.ts";
import { DetailedFault, detailsOf } from "./detailed-fault.ts";
import { decodeGrpcMessage, encodeGrpcMessage } from "./grpc-message.ts";
import { decodeBinaryValue, encodeBinaryValue } from "./metadata.ts";

const codes = {
  cancelled: Code.CANCELLED,
  invalid_argument: Code.INVALID_ARGUMENT,
  deadline_exceeded: Code.DEADLINE_EXCEEDED,
  not_found: Code.NOT_FOUND,
  already_exists: Code.ALREADY_EXISTS,
  permission_denied: Code.PERMISSION_DENIED,
  resource_exhausted: Code.RESOURCE_EXHAUSTED,
  failed_precondition: Code.FAILED_PRECONDITION,
  aborted: Code.ABORTED,
  out_of_range: Code.OUT_OF_RANGE,
  unimplemented: Code.UNIMPLEMENTED,
  internal: Code.INTERNAL,
  unavailable: Code.UNAVAILABLE,
  data_loss: Code.DATA_LOSS,
  unauthenticated: Code.UNAUTHENTICATED,
} as const satisfies Record<FaultCode, Code>;

const faultCodes = new Map<number, FaultCode>(
  (Object.keys(codes) as FaultCode[]).map((code) => [codes[code], code]),
);

/** Our clients read at most 16 KiB of headers, grpc-java 8 KiB: details beyond this would cost the whole error. */
const mostDetailBytes = 4_096;
const mostMessageChars = 1_024;

/**
 * Returns a failure as gRPC reports it, in trailers or for one blob of a batch.
 *
 * Only the message of a Fault is sent. Other errors may name files or tables: they are logged and not sent.
 */
export function statusOf(reason: unknown): Status {
  const known = reason instanceof Fault;
  return create(StatusSchema, {
    code: known ? codes[reason.code] : Code.INTERNAL,
    message: known ? reason.message : "the server failed; its log says why",
    details: [...detailsOf(reason)],
  });
}

/** The inverse of `statusOf`; undefined when the status is OK. */
export function faultOf(status: Status): Fault | undefined {
  if (status.code === Code.OK) return undefined;
  // UNKNOWN, and codes yet to be invented, are the other side's internal errors.
  const code = faultCodes.get(status.code) ?? "internal";
  return status.details.length > 0
    ? new DetailedFault(code, status.message, status.details)
    : new Fault(code, status.message);
}

export type StatusHeaders = Record<string, string>;

export const okHeaders: StatusHeaders = { "grpc-status": "0" };

/** The trailers that end a failed call. */
export function statusHeaders(reason: unknown): StatusHeaders {
  const status = statusOf(reason);
  const headers: StatusHeaders = {
    "grpc-status": String(status.code),
    "grpc-message": encodeGrpcMessage(status.message.slice(0, mostMessageChars)),
  };
  if (status.details.length > 0) {
    const bytes = toBinary(StatusSchema, status);
    if (bytes.byteLength <= mostDetailBytes) {
      headers["grpc-status-details-bin"] = encodeBinaryValue(bytes);
    }
  }
  return headers;
}

/** Returns the status in headers or trailers; undefined without one. */
export function endOf(
  headers: Readonly<Record<string, unknown>>,
): { readonly kind: "ok" } | { readonly kind: "failed"; readonly fault: Fault } | undefined {
  const code = headers["grpc-status"];
  if (code === undefined) return undefined;
  const fault = faultOf(statusFromHeaders(Number(code), headers));
  return fault === undefined ? { kind: "ok" } : { kind: "failed", fault };
}

function statusFromHeaders(code: number, headers: Readonly<Record<string, unknown>>): Status {
  const message = decodeGrpcMessage(textOf(headers["grpc-message"]));
  const details = headers["grpc-status-details-bin"];
  if (typeof details === "string") {
    try {
      const status = fromBinary(StatusSchema, decodeBinaryValue(details));
      // The plain headers are the truth; the message is only taken for its details.
      if (status.code === code) return { ...status, message };
    } catch {
      // Details are a courtesy: unreadable ones leave code and sentence standing.
    }
  }
  return create(StatusSchema, { code, message });
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
