/** The kind of a failure. The codes are gRPC's, so that they need no translation. */
export type FaultCode =
  | "invalid_argument"
  | "not_found"
  | "already_exists"
  | "permission_denied"
  | "unauthenticated"
  | "failed_precondition"
  | "aborted"
  | "out_of_range"
  | "resource_exhausted"
  | "cancelled"
  | "deadline_exceeded"
  | "unimplemented"
  | "unavailable"
  | "data_loss"
  | "internal";

/** A failure with a code for machines, a sentence for people, and the error that caused it. */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly code: FaultCode;

  constructor(code: FaultCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** Wraps any caught value. A Fault keeps its code; everything else becomes an internal error. */
  static from(reason: unknown, doing: string): Fault {
    const code = reason instanceof Fault ? reason.code : "internal";
    return new Fault(code, `${doing}: ${messageOf(reason)}`, { cause: reason });
  }
}

/** Returns the message of any thrown value. */
export function messageOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}
