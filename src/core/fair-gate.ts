interface Waiting {
  readonly goIn: () => void;
}

/**
 * Admits a limited number of tasks at a time, for work that holds much memory or the event loop.
 *
 * Waiting tasks are admitted in turns of their owners: an owner with a thousand tasks delays another owner's single
 * task only by the tasks that are already running.
 */
export class FairGate {
  #free: number;
  /** The waiting tasks by owner, the owner with the next turn first. */
  readonly #lines = new Map<string, Set<Waiting>>();

  constructor(most: number) {
    this.#free = most;
  }

  /** Runs the work when its turn comes; never if `signal` is aborted before. */
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
      // Moves the owner to the end of the line.
      if (line.size > 0) this.#lines.set(who, line);
      first.goIn();
      return;
    }
    this.#free++;
  }
}
