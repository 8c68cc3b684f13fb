/**
 * Returns how many bytes at the end belong to an incomplete UTF-8 character: 0 to 3.
 *
 * A reader that continues from another source must start this many bytes earlier.
 */
export function incompleteTail(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0x80 && byte <= 0xbf) continue;
    const length = byte >= 0xf0 && byte <= 0xf4 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
    return byte <= 0xf4 && length > back ? back : 0;
  }
  return 0;
}
