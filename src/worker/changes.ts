/** Wakes all waiters of a change; each waiter checks itself what changed. */
export class Changes {
  readonly #waiting: (() => void)[] = [];

  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  tell(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
