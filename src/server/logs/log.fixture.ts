import type { ReadLog } from "./whole-lines.ts";

/** A log that a test writes. */
export class WrittenLog {
  bytes: Buffer;
  attempt = 1;
  /** Bytes that were read so far. */
  readBytes = 0;

  constructor(text: string) {
    this.bytes = Buffer.from(text);
  }

  add(more: string): void {
    this.bytes = Buffer.concat([this.bytes, Buffer.from(more)]);
  }

  restart(other: string): void {
    this.attempt += 1;
    this.bytes = Buffer.from(other);
  }

  readonly read: ReadLog = async (offset, most) => {
    const bytes = this.bytes.subarray(offset, offset + most);
    this.readBytes += bytes.length;
    return { bytes, nextOffset: offset + bytes.length, complete: false, attempt: this.attempt };
  };
}
