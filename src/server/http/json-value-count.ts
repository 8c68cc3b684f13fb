const quote = 0x22;
const backslash = 0x5c;
/** `,` `:` `[` `{`: each value of a JSON text except the first follows one of them. */
const separators = new Set([0x2c, 0x3a, 0x5b, 0x7b]);

/**
 * Counts the values of a JSON text while its bytes arrive, before anything parses it.
 *
 * The cost of parsing and checking a text depends on the number of its values, not of its bytes: 35 MB of two million
 * values stopped a server for 18 s, while 35 MB in a few strings take 0.1 s. The count is an upper bound, and exact to
 * within one for each array, object and key.
 */
export class JsonValueCount {
  #count = 1;
  #inString = false;
  #escaped = false;

  /** Adds the next piece of the text; returns the count so far. */
  add(piece: Uint8Array): number {
    for (const byte of piece) {
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === backslash) this.#escaped = true;
        else if (byte === quote) this.#inString = false;
      } else if (byte === quote) this.#inString = true;
      else if (separators.has(byte)) this.#count++;
    }
    return this.#count;
  }
}
