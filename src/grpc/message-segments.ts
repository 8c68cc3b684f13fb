/** As long as the frames in which clients send, which is HTTP/2's default. */
const frameBytes = 16_384;

/**
 * Segments that were not needed for this time, in ms, are released. Released segments are garbage for a while, too: with a
 * short time, a flood that comes again would need twice the memory.
 */
const trimEveryMs = 60_000;

/**
 * Memory for messages whose end has not arrived, in segments of one size that are used again at once.
 *
 * A buffer that is no longer used keeps its memory until V8's next full collection. Without these segments, a client that
 * begins messages of 4 MiB, which the server drops, left up to 130 MiB of such buffers beside those that count as held.
 */
export class MessageSegments {
  readonly segmentBytes: number;
  readonly #free: Uint8Array[] = [];
  /** The least number of free segments since the last trim: so many were not needed. */
  #unused = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(segmentBytes = frameBytes) {
    this.segmentBytes = segmentBytes;
  }

  get freeBytes(): number {
    return this.#free.length * this.segmentBytes;
  }

  /** Returns a segment with arbitrary content. */
  take(): Uint8Array {
    const segment = this.#free.pop() ?? Buffer.allocUnsafeSlow(this.segmentBytes);
    this.#unused = Math.min(this.#unused, this.#free.length);
    return segment;
  }

  /** Takes segments back. The caller must not use any view of them afterwards. */
  giveBack(segments: readonly Uint8Array[]): void {
    for (const segment of segments) this.#free.push(segment);
    // The timer must not keep a process from its end.
    this.#timer ??= setInterval(() => this.trim(), trimEveryMs).unref();
  }

  /** Releases the segments that were free all the time since the last call. */
  trim(): void {
    this.#free.length -= this.#unused;
    this.#unused = this.#free.length;
    if (this.#unused > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
