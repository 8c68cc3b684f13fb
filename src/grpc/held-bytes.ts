import { Fault } from "#core/fault.ts";

/**
 * What the unread and unfinished messages of one connection hold together.
 *
 * Each stream alone may hold a message; a thousand streams that each send all of
 * one but its last byte would hold gigabytes.
 */
export class HeldBytes {
  readonly #most: number;
  #now = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Adds, or gives back when negative. Throws `resource_exhausted` when that is too much. */
  add(bytes: number): void {
    this.#now += bytes;
    if (bytes > 0 && this.#now > this.#most) {
      throw new Fault(
        "resource_exhausted",
        `this connection's unread messages hold over ${this.#most} bytes`,
      );
    }
  }
}
