import { Fault } from "#core/fault.ts";

/**
 * A forge that could not answer, or would not for now: another try may succeed.
 *
 * What was being written may have been written all the same; only a refusal by a limit says that it
 * was not.
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
