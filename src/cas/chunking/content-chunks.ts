import type { ChunkCutter } from "./fast-cdc.ts";

/** A megabyte is searched in some 3 ms: a part of it is a turn of the event loop. */
const searchedAtOnce = 128 * 1024;

/**
 * Yields the chunks of a blob, each in one buffer.
 *
 * @param turn awaited between parts of the bytes, so that the search does not hold the event loop
 */
export async function* contentChunks(
  pieces: AsyncIterable<Uint8Array>,
  cutter: ChunkCutter,
  turn: () => Promise<void> | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  let parts: Uint8Array[] = [];
  for await (const whole of pieces) {
    for (let begin = 0; begin < whole.byteLength; begin += searchedAtOnce) {
      await turn();
      const piece = whole.subarray(begin, begin + searchedAtOnce);
      let from = 0;
      while (from < piece.byteLength) {
        const end = cutter.endOfChunk(piece, from);
        if (end === undefined || end > from) parts.push(piece.subarray(from, end));
        if (end === undefined) break;
        yield Buffer.concat(parts);
        parts = [];
        from = end;
      }
    }
  }
}
