import { backoffMs } from "#core/backoff.ts";
import { Fault } from "#core/fault.ts";
import { rest } from "#core/resting.ts";

/** Longer than a server takes to restart, in ms. After this time another attempt costs less. */
const leastMs = 60_000;

const passing: ReadonlySet<string> = new Set(["unavailable", "deadline_exceeded", "aborted"]);

/** Returns whether a call failed because the farm was unreachable or busy, and not because of the request. */
export function isPassing(reason: unknown): boolean {
  return reason instanceof Fault && passing.has(reason.code);
}

/**
 * How long a worker retries idempotent calls while the farm is unreachable: transfers of blobs, or the last lines of a
 * log.
 *
 * Before the lease expires, no other worker gets the execution, so giving up earlier gains nothing.
 */
export class RetryWindow {
  #ms = leastMs;
  #isFarmAway = false;
  /** When the farm was last reachable again; by `performance.now()`. */
  #backAt = 0;
  readonly #over = new AbortController();

  get ms(): number {
    return this.#ms;
  }

  /** Sets the window to the length of the leases that the farm grants. */
  outlast(leaseMs: number): void {
    this.#ms = Math.max(leastMs, leaseMs);
  }

  /**
   * Sets whether heartbeats reach the farm. While they do not, no call is given up, whatever the time: the worker gets
   * no other work meanwhile, and the first heartbeat afterwards names the executions that it still has.
   */
  farmIsAway(isAway: boolean): void {
    if (this.#isFarmAway && !isAway) this.#backAt = performance.now();
    this.#isFarmAway = isAway;
  }

  /** The worker is stopping: a call that fails now is not retried. */
  end(): void {
    this.#over.abort();
  }

  /** Retries a call while the farm is unreachable, with increasing pauses; stops when the signal is aborted. */
  async persistently<Result>(call: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const begun = performance.now();
    for (let failures = 1; ; failures++) {
      try {
        return await call();
      } catch (reason) {
        const since = Math.max(begun, this.#backAt);
        const isSpent =
          this.#over.signal.aborted ||
          signal?.aborted === true ||
          (!this.#isFarmAway && performance.now() - since > this.#ms);
        if (!isPassing(reason) || isSpent) throw reason;
        await rest(backoffMs(failures, Math.random()), this.#over.signal);
      }
    }
  }
}
