import { Fault } from "#core/fault.ts";

/** The bytes that all connections hold together. */
export class SharedBytes {
  readonly #most: number;
  readonly #holders = new Map<HeldBytes, number>();
  #now = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Returns whether a holder exceeds its share while the sum is too large. */
  isTooMuch(holder: HeldBytes, bytes: number): boolean {
    const before = this.#holders.get(holder) ?? 0;
    this.#now += bytes - before;
    if (bytes === 0) this.#holders.delete(holder);
    else this.#holders.set(holder, bytes);
    // Connections with few held bytes are not affected by those with many.
    return this.#now > this.#most && bytes > this.#most / this.#holders.size;
  }
}

/**
 * The bytes that the server holds because of one connection: unread and unfinished messages, or answers that it does
 * not read.
 *
 * Each stream alone may hold a message. A thousand streams, each with a message without its last byte, would hold
 * gigabytes; so would a thousand connections.
 */
export class HeldBytes {
  readonly #most: number;
  readonly #what: string;
  readonly #shared: SharedBytes | undefined;
  #now = 0;

  constructor(most: number, what = "this connection's unread messages", shared?: SharedBytes) {
    this.#most = most;
    this.#what = what;
    this.#shared = shared;
  }

  /** Adds bytes; a negative number releases bytes. Throws `resource_exhausted` when that is too much. */
  add(bytes: number): void {
    if (bytes === 0) return;
    this.#now += bytes;
    const isTooMuch = this.#shared?.isTooMuch(this, this.#now) === true;
    if (bytes < 0) return;
    if (this.#now > this.#most) {
      throw new Fault("resource_exhausted", `${this.#what} hold over ${this.#most} bytes`);
    }
    if (isTooMuch) {
      throw new Fault(
        "resource_exhausted",
        `${this.#what} hold more than their share of what this server has to give; try again shortly`,
      );
    }
  }
}
