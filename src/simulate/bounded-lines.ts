import { Fault } from "#core/fault.ts";

export interface Line {
  /** From 1. */
  readonly number: number;
  readonly text: string;
}

const newline = 0x0a;
const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Splits a stream into lines with a maximum number of bytes: of a line without an end, at most this much is in memory.
 */
export async function* boundedLines(
  bytes: AsyncIterable<Uint8Array>,
  mostBytes: number,
): AsyncGenerator<Line> {
  let number = 1;
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  const keep = (part: Uint8Array) => {
    heldBytes += part.length;
    if (heldBytes > mostBytes)
      throw new Fault("invalid_argument", `line ${number} is longer than ${mostBytes} bytes`);
    held.push(part);
  };
  const line = (): Line => {
    const text = textOf(Buffer.concat(held), number);
    held = [];
    heldBytes = 0;
    return { number: number++, text };
  };
  for await (const chunk of bytes) {
    let from = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      keep(chunk.subarray(from, end));
      yield line();
      from = end + 1;
    }
    // A copy, because the reader may reuse the chunk's memory.
    if (from < chunk.length) keep(Uint8Array.from(chunk.subarray(from)));
  }
  if (heldBytes > 0) yield line();
}

function textOf(bytes: Uint8Array, number: number): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new Fault("invalid_argument", `line ${number} is not UTF-8 text`);
  }
}
