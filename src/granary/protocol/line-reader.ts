/** A line from a peer: complete, or too long and therefore dropped. */
type Line = { readonly kind: "line"; readonly text: string } | { readonly kind: "too-long" };

export const mostLineBytes = 1024 * 1024;

const newline = 0x0a;

/** Splits bytes into lines, for any division into chunks; stores at most one line, up to the allowed length. */
export function lineReader(most = mostLineBytes): (chunk: Uint8Array) => Line[] {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let isTooLong = false;

  const hold = (part: Uint8Array) => {
    heldBytes += part.byteLength;
    if (heldBytes > most) {
      isTooLong = true;
      held = [];
    } else if (part.byteLength > 0) held.push(part);
  };

  return (chunk) => {
    const lines: Line[] = [];
    let from = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
      hold(chunk.subarray(from, at));
      from = at + 1;
      if (isTooLong) lines.push({ kind: "too-long" });
      else if (heldBytes > 0)
        lines.push({ kind: "line", text: Buffer.concat(held).toString("utf8") });
      held = [];
      heldBytes = 0;
      isTooLong = false;
    }
    // A copy, because the socket's buffer is reused.
    if (from < chunk.byteLength) hold(chunk.slice(from));
    return lines;
  };
}
