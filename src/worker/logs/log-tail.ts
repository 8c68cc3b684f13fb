/**
 * The last bytes of a stream, up to a limit, in memory; those before them are only counted.
 *
 * They lie in one ring of that size, so that a stream of single bytes needs no more memory than any other.
 */
export class LogTail {
  readonly #limitBytes: number;
  #ring: Buffer | undefined;
  /** All bytes so far; the next one is written at this position of the ring, modulo its size. */
  #countBytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  add(chunk: Buffer): void {
    const last = chunk.subarray(Math.max(0, chunk.byteLength - this.#limitBytes));
    this.#countBytes += chunk.byteLength;
    if (last.byteLength === 0) return;
    this.#ring ??= Buffer.alloc(this.#limitBytes);
    const begin = (this.#countBytes - last.byteLength) % this.#limitBytes;
    const copied = last.copy(this.#ring, begin);
    last.copy(this.#ring, 0, copied);
  }

  /**
   * Returns the held bytes, and the number of those before them. When some were dropped, the bytes begin with a whole
   * line, if there is the beginning of one.
   */
  read(): { readonly bytes: Buffer; readonly droppedBytes: number } {
    const ring = this.#ring ?? Buffer.alloc(0);
    const dropped = this.#countBytes - ring.byteLength;
    if (dropped <= 0) return { bytes: ring.subarray(0, this.#countBytes), droppedBytes: 0 };
    const oldest = this.#countBytes % Math.max(1, ring.byteLength);
    const all = Buffer.concat([ring.subarray(oldest), ring.subarray(0, oldest)]);
    const newline = all.indexOf(0x0a);
    const begin = newline === -1 || newline === all.byteLength - 1 ? 0 : newline + 1;
    return { bytes: all.subarray(begin), droppedBytes: dropped + begin };
  }
}
