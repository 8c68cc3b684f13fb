import { create } from "@bufbuild/protobuf";
import { type Any, anyPack, durationFromMs } from "@bufbuild/protobuf/wkt";
import { Fault, type FaultCode } from "#core/fault.ts";
import { retryAfterMsOf } from "#core/too-many-requests.ts";
import { RetryInfoSchema } from "#proto/google/rpc/error_details_pb.ts";

/** A Fault with the details that gRPC clients read besides code and message: `google.rpc.Status.details`. */
export class DetailedFault extends Fault {
  readonly details: readonly Any[];

  constructor(code: FaultCode, message: string, details: readonly Any[], options?: ErrorOptions) {
    super(code, message, options);
    this.details = details;
  }
}

/** Returns the details of a failure, even if it was wrapped. A refusal for too many requests says when to try again. */
export function detailsOf(reason: unknown): readonly Any[] {
  for (let error = reason; error instanceof Error; error = error.cause) {
    if (error instanceof DetailedFault) return error.details;
  }
  const retryAfterMs = retryAfterMsOf(reason);
  if (retryAfterMs === undefined) return [];
  const retryDelay = durationFromMs(retryAfterMs);
  return [anyPack(RetryInfoSchema, create(RetryInfoSchema, { retryDelay }))];
}
