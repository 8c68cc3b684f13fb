/** Short lines are scanned here, because a call of a native function costs as much as 20 steps. */
const near = 16;

const newline = 0x0a;

/** Returns the position of the next newline from a position on; -1 when there is none. */
export function nextNewline(bytes: Buffer, from: number): number {
  const end = Math.min(from + near, bytes.length);
  for (let at = from; at < end; at++) if (bytes[at] === newline) return at;
  return bytes.indexOf(newline, end);
}

/** Returns how many newlines a part of a text has. */
export function countNewlines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; ) {
    const end = Math.min(at + near, to);
    while (at < end && text.charCodeAt(at) !== newline) at += 1;
    const found = at < end ? at : text.indexOf("\n", at);
    if (found === -1 || found >= to) break;
    count += 1;
    at = found + 1;
  }
  return count;
}
