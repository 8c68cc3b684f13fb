import { Fault } from "#core/fault.ts";
import { MessageSegments } from "./message-segments.ts";
import { type UnfinishedMessage, unfinishedMessage } from "./unfinished-message.ts";

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

/** Shared by all calls of the process: what one call gives back, another one uses. */
const sharedSegments = new MessageSegments();

/**
 * Cuts incoming chunks into messages.
 *
 * A message within one chunk is a view of it. The bytes of other messages are copied when they arrive, because a chunk
 * is a view of a socket read that may contain several streams: keeping it for one stream would keep the whole read in
 * memory. No more than one segment is allocated because of a length that a peer claims.
 */
export class FrameCutter {
  readonly #mostBytes: number;
  readonly #segments: MessageSegments;
  readonly #header = new Uint8Array(frameHeaderBytes);
  #headerBytes = 0;
  #unfinished: UnfinishedMessage | undefined;

  constructor(mostBytes: number, segments = sharedSegments) {
    this.#mostBytes = mostBytes;
    this.#segments = segments;
  }

  /** The memory, in bytes, of what waits for the rest of its message. */
  get heldBytes(): number {
    return this.#headerBytes + (this.#unfinished?.allocatedBytes ?? 0);
  }

  /** Returns the messages that this chunk completes. Throws `resource_exhausted` on one that is too large. */
  push(chunk: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    let at = 0;
    for (;;) {
      at += this.#readHeader(chunk, at);
      if (this.#headerBytes < frameHeaderBytes) return frames;
      const { compressed, length } = this.#parsedHeader();
      const used = Math.min(chunk.byteLength - at, length - (this.#unfinished?.filled ?? 0));
      const part = chunk.subarray(at, at + used);
      at += used;
      const bytes = this.#joined(part, length);
      if (bytes === undefined) return frames;
      frames.push({ compressed, bytes });
      this.#headerBytes = 0;
    }
  }

  /** Whether the bytes so far end where a message ends. */
  isBetweenMessages(): boolean {
    return this.#headerBytes === 0;
  }

  /** Releases the bytes of the unfinished message. */
  drop(): void {
    this.#unfinished?.release();
    this.#unfinished = undefined;
    this.#headerBytes = 0;
  }

  /** Copies what the chunk has of the header from here on, and returns how much that is. */
  #readHeader(chunk: Uint8Array, at: number): number {
    const part = chunk.subarray(at, at + frameHeaderBytes - this.#headerBytes);
    this.#header.set(part, this.#headerBytes);
    this.#headerBytes += part.byteLength;
    return part.byteLength;
  }

  #parsedHeader(): { compressed: boolean; length: number } {
    const [flag] = this.#header;
    if (flag !== 0 && flag !== 1) {
      throw new Fault("internal", `a message begins with ${String(flag)}, not with 0 or 1`);
    }
    const length = new DataView(this.#header.buffer).getUint32(1);
    if (length > this.#mostBytes) {
      throw new Fault(
        "resource_exhausted",
        `a message of ${length} bytes is over the limit of ${this.#mostBytes}`,
      );
    }
    return { compressed: flag === 1, length };
  }

  /** Returns the message that ends with this part; undefined when more is to come. */
  #joined(part: Uint8Array, length: number): Uint8Array | undefined {
    if (this.#unfinished === undefined) {
      if (part.byteLength === length) return part;
      this.#unfinished = unfinishedMessage(length, this.#segments);
    }
    this.#unfinished.append(part);
    if (this.#unfinished.filled < length) return undefined;
    const bytes = this.#unfinished.finish();
    this.#unfinished = undefined;
    return bytes;
  }
}
