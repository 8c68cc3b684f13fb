import { Fault } from "#core/fault.ts";

/** Reads lines and counted bytes, in turn, from one stream of chunks. */
interface ByteReader {
  /** Returns the text up to the next line feed; undefined at the end. */
  line(): Promise<string | undefined>;
  /** Yields this number of bytes as they arrive. Must be read to the end before the next call. */
  stream(count: number): AsyncGenerator<Buffer, void, undefined>;
  /** Returns this number of bytes in one piece. */
  take(count: number): Promise<Buffer>;
}

export function byteReader(source: AsyncIterable<Buffer>): ByteReader {
  const chunks = source[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);

  async function more(): Promise<boolean> {
    const { done, value } = await chunks.next();
    if (done) return false;
    held = held.length === 0 ? value : Buffer.concat([held, value]);
    return true;
  }

  async function* stream(count: number): AsyncGenerator<Buffer, void, undefined> {
    let left = count;
    while (left > 0) {
      if (held.length === 0 && !(await more())) throw cutShort();
      const part = held.subarray(0, left);
      held = held.subarray(part.length);
      left -= part.length;
      yield part;
    }
  }

  return {
    stream,

    async line() {
      let end = held.indexOf(0x0a);
      while (end === -1) {
        if (!(await more())) return undefined;
        end = held.indexOf(0x0a);
      }
      const text = held.toString("utf8", 0, end);
      held = held.subarray(end + 1);
      return text;
    },

    async take(count) {
      // Most are small and within the current chunk.
      if (count <= held.length) {
        const part = held.subarray(0, count);
        held = held.subarray(count);
        return part;
      }
      const parts: Buffer[] = [];
      for await (const part of stream(count)) parts.push(part);
      return Buffer.concat(parts);
    },
  };
}

function cutShort(): Fault {
  return new Fault("data_loss", "the output of git was cut short");
}
