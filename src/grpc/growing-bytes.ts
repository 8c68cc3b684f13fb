/** A copy of 4 MiB in three steps: fewer make memory of a claim, more make garbage. */
const growth = 4;

/**
 * Bytes of which a peer has said how many they will be, put together as they come.
 *
 * Memory is never set aside on a claim alone: only ever four times as much as is here. What is not
 * filled yet, the system has not given either.
 */
export class GrowingBytes {
  readonly #wanted: number;
  #bytes: Buffer;
  #filled = 0;

  /** For so many bytes, of which the first are these. */
  constructor(wanted: number, first: readonly Uint8Array[]) {
    this.#wanted = wanted;
    const here = first.reduce((sum, chunk) => sum + chunk.byteLength, 0);
    this.#bytes = this.#room(here);
    for (const chunk of first) this.add(chunk);
  }

  get heldBytes(): number {
    return this.#filled;
  }

  /** Takes as much of a chunk as is wanted; answers how much that was. */
  add(chunk: Uint8Array): number {
    const taken = chunk.subarray(0, this.#wanted - this.#filled);
    const filled = this.#filled + taken.byteLength;
    if (filled > this.#bytes.byteLength) this.#grow(filled);
    this.#bytes.set(taken, this.#filled);
    this.#filled = filled;
    return taken.byteLength;
  }

  /** All bytes, once they are here. */
  whole(): Uint8Array | undefined {
    return this.#filled === this.#wanted ? this.#bytes : undefined;
  }

  #grow(atLeast: number): void {
    const grown = this.#room(atLeast);
    this.#bytes.copy(grown, 0, 0, this.#filled);
    this.#bytes = grown;
  }

  #room(here: number): Buffer {
    return Buffer.allocUnsafeSlow(Math.min(this.#wanted, here * growth));
  }
}
