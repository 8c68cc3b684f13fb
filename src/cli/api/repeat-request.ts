import { setTimeout as delay } from "node:timers/promises";
import { ApiFailure, ServerUnreachable } from "./api-failure.ts";
import { retryDelayMs } from "./retry-delay.ts";

/** With growing pauses, 2 to 3 seconds: longer than a load balancer needs to notice that a server has ended. */
const mostAttempts = 6;

/** Errors of a connection that was open: the server behind a load balancer ended, and another one takes the request. */
const brokenConnections = new Set(["ECONNRESET", "EPIPE"]);

/**
 * Sends a request, and sends it again when the connection broke or the farm was unavailable. For requests that may
 * arrive twice.
 *
 * If nothing listens at the address, it fails at once: a person waits for the answer.
 */
export async function repeatRequest<Answer>(
  send: () => Promise<Answer>,
  signal: AbortSignal | null | undefined,
): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send();
    } catch (reason) {
      if (attempt >= mostAttempts || signal?.aborted === true || !isPassing(reason)) throw reason;
    }
    await delay(retryDelayMs(attempt, Math.random()));
  }
}

function isPassing(reason: unknown): boolean {
  if (reason instanceof ApiFailure) return reason.status >= 502 && reason.status <= 504;
  if (!(reason instanceof ServerUnreachable)) return false;
  for (let each: unknown = reason.cause; each instanceof Error; each = each.cause)
    if (brokenConnections.has((each as NodeJS.ErrnoException).code ?? "")) return true;
  return false;
}
