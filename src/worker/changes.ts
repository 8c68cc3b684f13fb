/** Wakes all who wait for a change; they check themselves what changed. */
export class Changes {
  readonly #waiting: (() => void)[] = [];

  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  tell(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
