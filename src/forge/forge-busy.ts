import { Fault } from "#core/fault.ts";

/**
 * A forge did not respond, or refuses temporarily: another attempt may succeed.
 *
 * A write may have succeeded nevertheless; only a refusal because of a limit means that it did not.
 */
export class ForgeBusy extends Fault {
  /** The waiting time that the forge requested. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, retryAfterMs?: number, options?: ErrorOptions) {
    super("unavailable", message, options);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Returns the waiting time that a forge requested, if that caused the failure. */
export function retryAfterMsOf(reason: unknown): number | undefined {
  return reason instanceof ForgeBusy ? reason.retryAfterMs : undefined;
}
