import { closeSync, readSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { Socket } from "node:net";
import { rest } from "#core/resting.ts";
import type { Mask } from "../secrets/log-mask.ts";
import { LogTail } from "./log-tail.ts";
import { countNewlines, leftOutLines, type StoredParts, storedLine } from "./stored-lines.ts";

/** How long a pipe may stay open after its processes were killed, in ms: another process may keep it open. */
const orphanMs = 1_000;

/** The end of a log that is too long, where an error is explained, in bytes; it is in memory until the process ends. */
const mostTailBytes = 4 * 1024 * 1024;
/**
 * A socket for a pipe costs more than all the rest of a log without output. The pipe of a process that ends earlier is
 * read without one; what is written meanwhile waits in the pipe. In ms.
 */
const attachAfterMs = 15;
/** The capacity of a pipe, in bytes. */
const pipeBytes = 65_536;
/** Enough for a full pipe and its end. */
const mostReads = 4;
/** Enough for the notes about what is left out. */
const noteBytes = 256;

/** Receives all output, including the part that is too long to store; the process waits for it. */
export type LogListener = (bytes: Uint8Array) => Promise<void>;

/**
 * The output of a process, written to disk before anything else.
 *
 * Of a log beyond the limit the beginning and the end are stored, with a note between them. All of it is read: a
 * process must not block or fail because it prints too much.
 */
export class CapturedLog {
  readonly path: string;
  /** The bytes from the beginning that are stored in any case. */
  readonly #headBytes: number;
  readonly #tail: LogTail;
  /** The read end of the pipe until a socket takes it over; undefined when it is closed. */
  #readEnd: number | undefined;
  #socket: Socket | undefined;
  /** Settles when all output is read. */
  #reading: Promise<void> | undefined;
  readonly #attaching: NodeJS.Timeout;
  readonly #hear: LogListener | undefined;
  readonly #mask: Mask | undefined;
  #file: FileHandle | undefined;
  #grown: () => void = () => {};
  #ending: Promise<void> | undefined;
  #sizeBytes = 0;
  /** Whether the beginning is full: the rest is held as the log's end. */
  #isHeadFull = false;
  /** Newlines of the stored beginning, and of all output. */
  #headNewlines = 0;
  #newlines = 0;
  /** Known when the log has ended, if its middle may be missing. */
  #parts: StoredParts | undefined;
  /** The total time of the listener's calls, and the start of the current call. */
  #heardMs = 0;
  #hearingSince: number | undefined;

  /**
   * Takes over the read end of a pipe. Text that the mask hides is neither stored nor passed to the listener.
   *
   * @param limitBytes of the stored log, with its notes
   */
  constructor(
    path: string,
    readEnd: number,
    limitBytes: number,
    {
      hear,
      mask,
    }: { readonly hear?: LogListener | undefined; readonly mask?: Mask | undefined } = {},
  ) {
    this.path = path;
    this.#hear = hear;
    this.#mask = mask;
    const tailBytes = Math.min(mostTailBytes, Math.floor(limitBytes / 4));
    this.#headBytes = Math.max(1, limitBytes - tailBytes - noteBytes);
    this.#tail = new LogTail(tailBytes);
    this.#readEnd = readEnd;
    this.#attaching = setTimeout(() => void this.#attach(), attachAfterMs);
  }

  /** Reads the pipe from now on. */
  #attach(): Promise<void> {
    clearTimeout(this.#attaching);
    if (this.#reading !== undefined || this.#readEnd === undefined)
      return this.#reading ?? Promise.resolve();
    this.#socket = new Socket({ fd: this.#readEnd, readable: true, writable: false });
    this.#readEnd = undefined;
    this.#reading = this.#keep(this.#socket);
    // Callers that wait for the end get the error; until then it is ignored.
    this.#reading.catch(() => {});
    return this.#reading;
  }

  /** Reads what a short process has left in its pipe. Returns false when another process still has the pipe. */
  async #drain(readEnd: number): Promise<boolean> {
    clearTimeout(this.#attaching);
    const buffer = Buffer.allocUnsafe(pipeBytes);
    try {
      // A process that left the tree may write without end.
      for (let reads = 0; reads < mostReads; reads++) {
        const count = readNow(readEnd, buffer);
        if (count === undefined) return false;
        if (count === 0) {
          this.#readEnd = undefined;
          closeSync(readEnd);
          await this.#takeHeldBack();
          return true;
        }
        const bytes = Buffer.from(buffer.subarray(0, count));
        await this.#take(this.#mask?.pass(bytes) ?? bytes);
      }
      return false;
    } catch (reason) {
      this.#readEnd = undefined;
      closeQuietly(readEnd);
      throw reason;
    }
  }

  /** Bytes on disk. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  onGrown(callback: () => void): void {
    this.#grown = callback;
  }

  /** Resolves when the output is on disk: all of it, or its beginning and its end. */
  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    if (this.#readEnd === undefined || !(await this.#drain(this.#readEnd))) {
      const reading = this.#attach();
      const orphaned = new AbortController();
      const retryWindow = this.#waitForOrphans(orphaned.signal).then(() => this.#socket?.destroy());
      await reading.finally(() => orphaned.abort("ended"));
      await retryWindow;
    }
    const { bytes, droppedBytes } = this.#tail.read();
    const hasGap = droppedBytes > 0;
    if (this.#isHeadFull) {
      const [inHead, inAll] = [this.#headNewlines, this.#newlines];
      this.#parts = { inHead, inAll, inTail: countNewlines(bytes), hasGap };
      if (hasGap) {
        const lines = leftOutLines(this.#parts);
        await this.#append(note(`${droppedBytes} bytes are left out here, ${lines}`));
      }
    }
    if (bytes.byteLength > 0) await this.#append(bytes);
    this.#grown();
  }

  /** Returns the number under which the log stores a line of the output, both from 1, after the log's end. */
  storedLine(line: number): number {
    return this.#parts === undefined ? line : storedLine(line, this.#parts);
  }

  /** The listener's time does not count, because output that is in the pipe meanwhile must not be lost. */
  async #waitForOrphans(ended: AbortSignal): Promise<void> {
    const begun = performance.now();
    const heardBefore = this.#timeHeardMs();
    for (let leftMs = orphanMs; leftMs > 0 && !ended.aborted; ) {
      await rest(leftMs, ended);
      const heardMs = this.#timeHeardMs() - heardBefore;
      leftMs = Math.ceil(orphanMs + heardMs - (performance.now() - begun));
    }
  }

  #timeHeardMs(): number {
    const now = performance.now();
    return this.#heardMs + (now - (this.#hearingSince ?? now));
  }

  async #pass(chunk: Buffer): Promise<void> {
    if (this.#hear === undefined) return;
    this.#hearingSince = performance.now();
    await this.#hear(chunk);
    this.#heardMs = this.#timeHeardMs();
    this.#hearingSince = undefined;
  }

  /** Reads up to a number of bytes from an offset; also after the file's name was removed. */
  async readAt(offset: number, mostBytes: number): Promise<Uint8Array> {
    const buffer = Buffer.alloc(Math.min(mostBytes, Math.max(0, this.#sizeBytes - offset)));
    const read = await this.#file?.read(buffer, 0, buffer.byteLength, offset);
    return buffer.subarray(0, read?.bytesRead ?? 0);
  }

  /** Closes the file, after the end of the log. */
  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  async #keep(socket: Socket): Promise<void> {
    try {
      // The socket pauses while a chunk is written, so memory stays limited.
      for await (const chunk of socket as AsyncIterable<Buffer>) {
        await this.#take(this.#mask?.pass(chunk) ?? chunk);
      }
    } catch (reason) {
      if (!isAbort(reason)) throw reason;
    }
    await this.#takeHeldBack();
  }

  async #takeHeldBack(): Promise<void> {
    const heldBack = this.#mask?.end();
    if (heldBack !== undefined) await this.#take(heldBack);
  }

  async #take(bytes: Buffer): Promise<void> {
    if (bytes.byteLength === 0) return;
    const free = this.#isHeadFull ? 0 : this.#headBytes - this.#sizeBytes;
    this.#newlines += countNewlines(bytes);
    if (free > 0) {
      const head = bytes.subarray(0, free);
      this.#headNewlines += countNewlines(head);
      await this.#append(head);
    }
    if (bytes.byteLength > free) {
      if (!this.#isHeadFull)
        await this.#append(note("the log is too long; its end follows when the process has ended"));
      this.#isHeadFull = true;
      this.#tail.add(bytes.subarray(free));
    }
    await this.#pass(bytes);
  }

  async #append(bytes: Buffer): Promise<void> {
    this.#file ??= await open(this.path, "a+");
    await this.#file.appendFile(bytes);
    this.#sizeBytes += bytes.byteLength;
    this.#grown();
  }
}

function note(text: string): Buffer {
  return Buffer.from(`\n[grange: ${text}]\n`);
}

/** Returns the bytes that a pipe has now, 0 at its end; undefined when it has none but may get some. */
function readNow(readEnd: number, into: Buffer): number | undefined {
  try {
    return readSync(readEnd, into, 0, into.byteLength, null);
  } catch (reason) {
    if (reason instanceof Error && "code" in reason && reason.code === "EAGAIN") return undefined;
    throw reason;
  }
}

/** Returns whether a wait for a pipe was aborted; an error of the pipe is different. */
function isAbort(reason: unknown): boolean {
  return (
    reason instanceof Error &&
    "code" in reason &&
    (reason.code === "ERR_STREAM_PREMATURE_CLOSE" || reason.code === "ABORT_ERR")
  );
}

export function closeQuietly(fd: number): void {
  try {
    closeSync(fd);
  } catch {
    // The file is closed already.
  }
}
