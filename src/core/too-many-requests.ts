import { Fault } from "./fault.ts";

/** A request was refused because its caller makes too many: the same request is accepted after some time. */
export class TooManyRequests extends Fault {
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number) {
    super("resource_exhausted", message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Returns after how many ms a refused request may be sent again, even if its failure was wrapped; undefined: unknown. */
export function retryAfterMsOf(reason: unknown): number | undefined {
  for (let error = reason; error instanceof Error; error = error.cause) {
    if (error instanceof TooManyRequests) return error.retryAfterMs;
  }
  return undefined;
}

/** Returns the value of the header `retry-after`: whole seconds, at least one. */
export function retryAfterSeconds(ms: number): string {
  return `${Math.max(1, Math.ceil(ms / 1_000))}`;
}
