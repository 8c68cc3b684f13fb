import { isAnotherOwnerWaiting, myTurn } from "./take-turns.ts";

/** Receiving, assembling and releasing a mebibyte takes about 2 ms; sending it takes no longer. */
export const bytesPerMs = 524_288;

/** The number of bytes accepted at once while others wait. */
export const turnBytes = 262_144;

/** The cost of many tiny pieces is per piece: a piece of one byte costs as much as 5,000 bytes of a large piece. */
export const bytesOfAPiece = 5_000;

/** Yields the pieces of a body as they arrive, in turns with short work of other owners. */
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
    if (isAnotherOwnerWaiting(who)) await myTurn(who, owedMs);
  }
}
