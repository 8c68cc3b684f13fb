/** Wakes those who wait for anything to change; they look themselves at what did. */
export class Changes {
  readonly #waiting: (() => void)[] = [];

  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  tell(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
