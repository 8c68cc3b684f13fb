import { Fault } from "#core/fault.ts";

/** A gRPC message on the wire: one byte "compressed", four bytes length, then the bytes. */
export interface Frame {
  readonly compressed: boolean;
  readonly bytes: Uint8Array;
}

const frameHeaderBytes = 5;

/** One message, or the parts that form one when they are concatenated. */
export type Payload = Uint8Array | readonly Uint8Array[];

/** Below this, copying a message behind its header costs less than a second write. */
const copyBelowBytes = 16_384;

/** Returns the chunks to write, in order, to send a message. Large parts are not copied. */
export function framed(payload: Payload): Uint8Array[] {
  const parts = payload instanceof Uint8Array ? [payload] : payload;
  const length = parts.reduce((sum, part) => sum + part.byteLength, 0);
  const header = Buffer.allocUnsafe(frameHeaderBytes);
  header[0] = 0;
  header.writeUInt32BE(length, 1);
  return length < copyBelowBytes ? [Buffer.concat([header, ...parts])] : [header, ...parts];
}

/**
 * Cuts incoming chunks into messages.
 *
 * A message within one chunk is a view of it. Other messages are assembled once, when their last byte has arrived:
 * memory is never allocated because of a length that a peer claims.
 */
export class FrameCutter {
  readonly #mostBytes: number;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #needed = frameHeaderBytes;
  #header: { compressed: boolean; length: number } | undefined;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** Bytes that wait for the rest of their message. */
  get heldBytes(): number {
    return this.#pendingBytes;
  }

  /** Returns the messages that this chunk completes. Throws `resource_exhausted` on one that is too large. */
  push(chunk: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    this.#pending.push(chunk);
    this.#pendingBytes += chunk.byteLength;
    while (this.#pendingBytes >= this.#needed) {
      const bytes = this.#take(this.#needed);
      if (this.#header === undefined) {
        this.#header = this.#parse(bytes);
        this.#needed = this.#header.length;
      } else {
        frames.push({ compressed: this.#header.compressed, bytes });
        this.#header = undefined;
        this.#needed = frameHeaderBytes;
      }
    }
    this.#ownLast();
    return frames;
  }

  /**
   * A chunk is a view of a socket read that may contain several streams: keeping it for one stream keeps the whole
   * buffer in memory.
   */
  #ownLast(): void {
    const last = this.#pending.at(-1);
    if (last === undefined || last.byteLength * 2 > last.buffer.byteLength) return;
    this.#pending[this.#pending.length - 1] = new Uint8Array(last);
  }

  /** Whether the bytes so far end where a message ends. */
  isBetweenMessages(): boolean {
    return this.#header === undefined && this.#pendingBytes === 0;
  }

  #parse(header: Uint8Array): { compressed: boolean; length: number } {
    const [flag] = header;
    if (flag !== 0 && flag !== 1) {
      throw new Fault("internal", `a message begins with ${String(flag)}, not with 0 or 1`);
    }
    const length = Buffer.from(header.buffer, header.byteOffset, 5).readUInt32BE(1);
    if (length > this.#mostBytes) {
      throw new Fault(
        "resource_exhausted",
        `a message of ${length} bytes is over the limit of ${this.#mostBytes}`,
      );
    }
    return { compressed: flag === 1, length };
  }

  #take(count: number): Uint8Array {
    const [first] = this.#pending;
    this.#pendingBytes -= count;
    if (first !== undefined && first.byteLength >= count) {
      this.#keepRest(first, count);
      return first.subarray(0, count);
    }
    const taken = Buffer.allocUnsafe(count);
    let filled = 0;
    while (filled < count) {
      const chunk = this.#pending[0];
      if (chunk === undefined) throw new Fault("internal", "fewer bytes are held than counted");
      const used = Math.min(chunk.byteLength, count - filled);
      taken.set(chunk.subarray(0, used), filled);
      filled += used;
      this.#keepRest(chunk, used);
    }
    return taken;
  }

  #keepRest(first: Uint8Array, used: number): void {
    if (used === first.byteLength) this.#pending.shift();
    else this.#pending[0] = first.subarray(used);
  }
}
