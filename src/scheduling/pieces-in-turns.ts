import { isSomebodyElseWaiting, myTurn } from "./take-turns.ts";

/** To receive a mebibyte, to put it together and to clear it away takes about 2 ms; to send it, no more. */
export const bytesPerMs = 524_288;

/** Taken in at once while others wait. */
export const turnBytes = 262_144;

/** What comes in tiny pieces costs by the piece: one of one byte as much as 5,000 bytes of a large one. */
export const bytesOfAPiece = 5_000;

/** The pieces of a body as they come, by turns while somebody else has something short in hand. */
export async function* piecesInTurns(
  pieces: AsyncIterable<Uint8Array>,
  who: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  let owedBytes = 0;
  for await (const piece of pieces) {
    yield piece;
    owedBytes += Math.max(piece.byteLength, bytesOfAPiece);
    if (owedBytes < turnBytes) continue;
    const owedMs = owedBytes / bytesPerMs;
    owedBytes = 0;
    if (isSomebodyElseWaiting(who)) await myTurn(who, owedMs);
  }
}
