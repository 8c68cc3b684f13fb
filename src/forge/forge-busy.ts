import { Fault } from "#core/fault.ts";

/**
 * A forge could not answer, or refuses for now: another attempt may succeed.
 *
 * A write may have succeeded nevertheless; only a refusal because of a limit means that it did not.
 */
export class ForgeBusy extends Fault {
  /** For how long the forge asked to be left alone. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, retryAfterMs?: number, options?: ErrorOptions) {
    super("unavailable", message, options);
    this.retryAfterMs = retryAfterMs;
  }
}

/** How long a forge asked to be left alone, when that is why something failed. */
export function retryAfterMsOf(reason: unknown): number | undefined {
  return reason instanceof ForgeBusy ? reason.retryAfterMs : undefined;
}
