import type { Readable } from "node:stream";
import { Fault } from "#core/fault.ts";
import type { Decompress } from "./compression.ts";
import { type Frame, FrameCutter } from "./frame.ts";
import type { Claim, HeldBytes } from "./held-bytes.ts";
import type { MessageSegments } from "./message-segments.ts";

/** Messages that wait to be read may hold this much before the peer must pause. */
const pauseAboveBytes = 1_048_576;
/** A peer that sends less than this, and no message, within `waitLimitMs` counts as silent. */
const leastProgressBytes = 1_024;

interface IncomingOptions {
  readonly maxMessageBytes: number;
  readonly decompress: Decompress;
  readonly held: HeldBytes;
  /** Default: those of the process. */
  readonly segments?: MessageSegments;
  /** How long a peer that has to send a message may be silent, in ms. Without a limit when absent. */
  readonly waitLimitMs?: number | undefined;
}

/**
 * The messages of one direction of a call, for one reader.
 *
 * Reads by 'data' events rather than by the stream's own iterator: a message of 1 MiB arrives in some 64 chunks, and a
 * promise for each would slow other work down.
 */
export class IncomingMessages implements AsyncIterable<Uint8Array> {
  readonly #stream: Readable;
  readonly #options: IncomingOptions;
  readonly #cutter: FrameCutter;
  readonly #frames: Frame[] = [];
  #queuedBytes = 0;
  /** The bytes of the one message of a unary call, which its handler uses. */
  #keptBytes = 0;
  readonly #claim: Claim;
  #receivedBytes = 0;
  #isOver = false;
  #end: { readonly fault: Fault | undefined } | undefined;
  #wake: (() => void) | undefined;

  constructor(stream: Readable, options: IncomingOptions) {
    this.#stream = stream;
    this.#options = options;
    this.#cutter = new FrameCutter(options.maxMessageBytes, options.segments);
    this.#claim = options.held.claim((fault) => this.fail(fault));
    stream.on("data", (chunk: Uint8Array) => this.#receive(chunk));
  }

  /** The received bytes of all messages. */
  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  /** Returns the next message; undefined after the last. Throws the error with which the messages ended. */
  async next(): Promise<Uint8Array | undefined> {
    for (;;) {
      const frame = this.#frames.shift();
      if (frame !== undefined) {
        this.#queuedBytes -= frame.bytes.byteLength;
        this.#account();
        if (this.#queuedBytes < pauseAboveBytes && this.#stream.isPaused()) this.#stream.resume();
        const { decompress, maxMessageBytes } = this.#options;
        return frame.compressed ? await decompress(frame.bytes, maxMessageBytes) : frame.bytes;
      }
      if (this.#end !== undefined) {
        if (this.#end.fault !== undefined) throw this.#end.fault;
        return undefined;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** The next message of a peer that is to send it now. Throws `deadline_exceeded` when it falls silent. */
  async soon(): Promise<Uint8Array | undefined> {
    if (this.#frames.length > 0 || this.#end !== undefined) return this.next();
    return this.#unlessSilent(() => this.next());
  }

  /**
   * Resolves when the messages have ended, or when two of them or the given number of bytes wait to be read. They count
   * as held meanwhile. A peer that falls silent makes it resolve, too; the next message then throws.
   */
  async gathered(bytes: number): Promise<void> {
    const isEnough = () =>
      this.#end !== undefined || this.#frames.length > 1 || this.#queuedBytes >= bytes;
    if (isEnough()) return;
    await this.#unlessSilent(async () => {
      while (!isEnough()) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    });
  }

  /** Fails the messages with `deadline_exceeded` when the peer falls silent before the work is done. */
  async #unlessSilent<T>(work: () => Promise<T>): Promise<T> {
    const { waitLimitMs } = this.#options;
    if (waitLimitMs === undefined) return work();
    let seen = this.#receivedBytes;
    const timer = setInterval(() => {
      if (this.#receivedBytes - seen < leastProgressBytes) {
        this.fail(new Fault("deadline_exceeded", `no message arrived for ${waitLimitMs} ms`));
      }
      seen = this.#receivedBytes;
    }, waitLimitMs).unref();
    try {
      return await work();
    } finally {
      clearInterval(timer);
    }
  }

  /** Returns the one message of a unary call. It counts as held until the call ends. */
  async only(): Promise<Uint8Array> {
    const message = await this.soon();
    if (message === undefined) throw new Fault("internal", "the call has no message");
    this.#keptBytes = message.byteLength;
    this.#account();
    if ((await this.soon()) !== undefined) {
      throw new Fault("internal", "the call has a second message, and the method accepts one");
    }
    return message;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (let message = await this.next(); message !== undefined; message = await this.next()) {
      yield message;
    }
  }

  /** No more messages will come. Those that have arrived can still be read. */
  finish(): void {
    const whole = this.#cutter.isBetweenMessages();
    this.#finish(whole ? undefined : new Fault("internal", "the last message was cut short"));
  }

  /** The call fails after the messages that have arrived were read. */
  failAfter(fault: Fault): void {
    this.#finish(fault);
  }

  /** Ends the call: waiting messages are dropped, and the reader gets the fault. */
  fail(fault: Fault): void {
    this.#frames.length = 0;
    this.#queuedBytes = 0;
    this.#isOver = true;
    this.#finish(fault);
    // Later data is dropped; unread bytes would keep the stream from closing.
    this.#stream.resume();
  }

  #finish(fault: Fault | undefined): void {
    this.#end ??= { fault };
    this.#cutter.drop();
    this.#account();
    this.#notify();
  }

  #receive(chunk: Uint8Array): void {
    if (this.#end !== undefined) return;
    this.#receivedBytes += chunk.byteLength;
    try {
      for (const frame of this.#cutter.push(chunk)) {
        this.#frames.push(frame);
        this.#queuedBytes += frame.bytes.byteLength;
      }
      this.#account();
    } catch (reason) {
      this.fail(Fault.from(reason, "reading a message"));
      return;
    }
    if (this.#queuedBytes >= pauseAboveBytes) this.#stream.pause();
    if (this.#frames.length > 0) this.#notify();
  }

  #account(): void {
    const now = this.#isOver ? 0 : this.#cutter.heldBytes + this.#queuedBytes + this.#keptBytes;
    this.#claim.set(now, this.#keptBytes > 0);
  }

  #notify(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}
