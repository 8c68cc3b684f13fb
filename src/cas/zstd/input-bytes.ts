/** Bytes that arrived in chunks, read from the front. Only `copy` copies bytes. */
export class InputBytes {
  #chunks: Uint8Array[] = [];
  #first = 0;
  #offset = 0;
  length = 0;

  add(chunk: Uint8Array): void {
    if (chunk.byteLength === 0) return;
    this.#chunks.push(chunk);
    this.length += chunk.byteLength;
  }

  /** Returns the byte at this position, which must be available. */
  byteAt(at: number): number {
    let index = this.#first;
    let place = this.#offset + at;
    for (;;) {
      const chunk = this.#chunks[index] as Uint8Array;
      if (place < chunk.byteLength) return chunk[place] as number;
      place -= chunk.byteLength;
      index++;
    }
  }

  /** Returns the next bytes, at most four, as a number. */
  peek(count: number): number {
    let value = 0;
    for (let n = 0; n < count; n++) value += this.byteAt(n) * 2 ** (8 * n);
    return value;
  }

  /** Copies the next bytes without consuming them. */
  copy(to: Uint8Array, at: number, count: number): void {
    let index = this.#first;
    let place = this.#offset;
    for (let done = 0; done < count; ) {
      const chunk = this.#chunks[index] as Uint8Array;
      const part = chunk.subarray(place, place + count - done);
      to.set(part, at + done);
      done += part.byteLength;
      place = 0;
      index++;
    }
  }

  /** Drops the next bytes that are available; returns how many. */
  drop(count: number): number {
    const dropped = Math.min(count, this.length);
    this.length -= dropped;
    this.#offset += dropped;
    for (;;) {
      const size = this.#chunks[this.#first]?.byteLength;
      if (size === undefined || this.#offset < size) break;
      this.#offset -= size;
      this.#first++;
    }
    if (this.#first > 16 && this.#first * 2 > this.#chunks.length) {
      this.#chunks = this.#chunks.slice(this.#first);
      this.#first = 0;
    } else if (this.length === 0) {
      this.#chunks = [];
      this.#first = 0;
      this.#offset = 0;
    }
    return dropped;
  }
}
