/** The last bytes of a stream, up to a limit, in memory; what is before them is only counted. */
export class LogTail {
  readonly #limitBytes: number;
  readonly #chunks: Buffer[] = [];
  #heldBytes = 0;
  #droppedBytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  add(chunk: Buffer): void {
    // A copy: the caller's chunk may be a small part of a large buffer.
    this.#chunks.push(Buffer.from(chunk));
    this.#heldBytes += chunk.byteLength;
    let first = this.#chunks[0];
    while (first !== undefined && this.#heldBytes > this.#limitBytes) {
      const tooMany = Math.min(first.byteLength, this.#heldBytes - this.#limitBytes);
      this.#heldBytes -= tooMany;
      this.#droppedBytes += tooMany;
      if (tooMany === first.byteLength) this.#chunks.shift();
      else this.#chunks[0] = first.subarray(tooMany);
      first = this.#chunks[0];
    }
  }

  /**
   * Returns the held bytes, and the number of those before them. When some were dropped, the bytes begin with a whole
   * line, if there is the beginning of one.
   */
  read(): { readonly bytes: Buffer; readonly droppedBytes: number } {
    const all = Buffer.concat(this.#chunks);
    if (this.#droppedBytes === 0) return { bytes: all, droppedBytes: 0 };
    const newline = all.indexOf(0x0a);
    const begin = newline === -1 || newline === all.byteLength - 1 ? 0 : newline + 1;
    return { bytes: all.subarray(begin), droppedBytes: this.#droppedBytes + begin };
  }
}
