import type { Any } from "@bufbuild/protobuf/wkt";
import { Fault, type FaultCode } from "#core/fault.ts";

/** A Fault with what gRPC clients read beside code and sentence: `google.rpc.Status.details`. */
export class DetailedFault extends Fault {
  readonly details: readonly Any[];

  constructor(code: FaultCode, message: string, details: readonly Any[], options?: ErrorOptions) {
    super(code, message, options);
    this.details = details;
  }
}

/** The details of a failure, also when others have wrapped it since. */
export function detailsOf(reason: unknown): readonly Any[] {
  for (let error = reason; error instanceof Error; error = error.cause) {
    if (error instanceof DetailedFault) return error.details;
  }
  return [];
}
