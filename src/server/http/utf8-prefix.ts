/**
 * Decodes bytes up to the last whole character, for text that arrives in pieces.
 *
 * Bytes that can never be a character become U+FFFD, as everywhere on the web. An unfinished character at the end is
 * left for the next piece, unless this is the last one.
 */
export function decodeUtf8Prefix(
  bytes: Uint8Array,
  isLast: boolean,
): { readonly text: string; readonly bytes: number } {
  const whole = isLast ? bytes.length : bytes.length - unfinishedTail(bytes);
  return {
    text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, whole)),
    bytes: whole,
  };
}

/** How many bytes at the end begin a character that is not whole yet: 0 to 3. */
function unfinishedTail(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return length > back ? back : 0;
    }
  }
  return 0;
}
