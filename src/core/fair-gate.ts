interface Waiting {
  readonly goIn: () => void;
}

/**
 * Lets a few in at a time, for work that holds much memory or the event loop.
 *
 * Who waits is let in by turns of those who ask: one that asks for a thousand things delays another's
 * one thing by no more than those that are in already.
 */
export class FairGate {
  #free: number;
  /** By who waits, the one whose turn is next first. */
  readonly #lines = new Map<string, Set<Waiting>>();

  constructor(most: number) {
    this.#free = most;
  }

  /** Does the work when its turn comes; never, when `signal` is aborted before. */
  async through<T>(who: string, work: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#turn(who, signal);
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  #turn(who: string, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const line = this.#lines.get(who) ?? new Set<Waiting>();
      this.#lines.set(who, line);
      const leave = () => {
        line.delete(waiting);
        if (line.size === 0 && this.#lines.get(who) === line) this.#lines.delete(who);
        reject(signal?.reason);
      };
      const waiting: Waiting = {
        goIn() {
          signal?.removeEventListener("abort", leave);
          resolve();
        },
      };
      line.add(waiting);
      signal?.addEventListener("abort", leave, { once: true });
    });
  }

  #next(): void {
    for (const [who, line] of this.#lines) {
      const [first] = line;
      this.#lines.delete(who);
      if (first === undefined) continue;
      line.delete(first);
      // To the end of those who wait.
      if (line.size > 0) this.#lines.set(who, line);
      first.goIn();
      return;
    }
    this.#free++;
  }
}
