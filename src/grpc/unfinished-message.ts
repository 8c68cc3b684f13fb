import type { MessageSegments } from "./message-segments.ts";

/** A message whose first bytes have arrived. */
export interface UnfinishedMessage {
  /** How many of its bytes have arrived. */
  readonly filled: number;
  readonly allocatedBytes: number;
  /** Copies the next bytes of the message. */
  append(part: Uint8Array): void;
  /** Returns the whole message in memory of its own. */
  finish(): Uint8Array;
  /** Gives its memory up. */
  release(): void;
}

/** Returns the place for a message of this length, in bytes. Memory beyond a segment is allocated as bytes arrive. */
export function unfinishedMessage(length: number, segments: MessageSegments): UnfinishedMessage {
  return length <= segments.segmentBytes
    ? new InOneBuffer(length)
    : new InSegments(length, segments);
}

class InOneBuffer implements UnfinishedMessage {
  readonly #bytes: Uint8Array;
  #filled = 0;

  constructor(length: number) {
    this.#bytes = Buffer.allocUnsafe(length);
  }

  get filled(): number {
    return this.#filled;
  }

  get allocatedBytes(): number {
    return this.#bytes.byteLength;
  }

  append(part: Uint8Array): void {
    this.#bytes.set(part, this.#filled);
    this.#filled += part.byteLength;
  }

  finish(): Uint8Array {
    return this.#bytes;
  }

  release(): void {}
}

class InSegments implements UnfinishedMessage {
  readonly #length: number;
  readonly #pool: MessageSegments;
  readonly #segments: Uint8Array[] = [];
  #filled = 0;

  constructor(length: number, pool: MessageSegments) {
    this.#length = length;
    this.#pool = pool;
  }

  get filled(): number {
    return this.#filled;
  }

  get allocatedBytes(): number {
    return this.#segments.length * this.#pool.segmentBytes;
  }

  append(part: Uint8Array): void {
    const { segmentBytes } = this.#pool;
    for (let at = 0; at < part.byteLength; ) {
      const inSegment = this.#filled % segmentBytes;
      if (inSegment === 0) this.#segments.push(this.#pool.take());
      const piece = part.subarray(at, at + segmentBytes - inSegment);
      this.#segments.at(-1)?.set(piece, inSegment);
      this.#filled += piece.byteLength;
      at += piece.byteLength;
    }
  }

  finish(): Uint8Array {
    // The length cuts the last segment off where the message ends.
    const bytes = Buffer.concat(this.#segments, this.#length);
    this.release();
    return bytes;
  }

  release(): void {
    this.#pool.giveBack(this.#segments.splice(0));
  }
}
