/** For each stream of a process, this many bytes from its beginning and as many from its end are stored. */
const keptBytes = 512 * 1024;

/** Stores the beginning and the end of the output, however long it is. */
export class KeptOutput {
  #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  readonly #limit: number;
  written = 0;

  constructor(limit: number = keptBytes) {
    this.#limit = limit;
  }

  take(chunk: Buffer): void {
    this.written += chunk.length;
    const room = this.#limit - this.#headBytes;
    if (room > 0) {
      const part = chunk.subarray(0, room);
      this.#head.push(part);
      this.#headBytes += part.length;
      if (part.length === chunk.length) return;
      chunk = chunk.subarray(room);
    }
    this.#tail.push(chunk);
    this.#tailBytes += chunk.length;
    // Whole chunks are dropped while enough remains, so that no byte is copied twice.
    while (this.#tailBytes - (this.#tail[0]?.length ?? 0) >= this.#limit) {
      this.#tailBytes -= this.#tail.shift()?.length ?? 0;
    }
  }

  get cutBytes(): number {
    return this.written - this.#headBytes - Math.min(this.#tailBytes, this.#limit);
  }

  text(): string {
    const head = Buffer.concat(this.#head);
    const tail = Buffer.concat(this.#tail);
    const end = tail.subarray(Math.max(0, tail.length - this.#limit));
    if (this.cutBytes === 0) return Buffer.concat([head, end]).toString();
    return `${head.toString()}\n[${this.cutBytes} bytes are left out here]\n${end.toString()}`;
  }
}
