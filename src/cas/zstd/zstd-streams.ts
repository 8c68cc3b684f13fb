import { Fault } from "#core/fault.ts";
import { takingTurns } from "#scheduling/take-turns.ts";
import { ZstdDecoder } from "./zstd-decoder.ts";
import { zstdFrame } from "./zstd-frame.ts";

/**
 * A frame of this size blocks the event loop for about 1 ms; because frames are independent, the output is 2 % larger.
 */
const frameBytes = 256 * 1024;

/** The memory limit for all streams that are being unpacked, mostly for windows. */
const mostHeldBytes = 256 * 1024 * 1024;
let heldBytes = 0;

/** Unpacks a stream of zstd frames. Throws `invalid_argument` when it is malformed or larger than `mostBytes`. */
export async function* unzstd(
  chunks: AsyncIterable<Uint8Array>,
  mostBytes: number,
  who?: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const decoder = new ZstdDecoder(mostBytes);
  const turn = takingTurns(undefined, who);
  let held = 0;
  const account = () => {
    heldBytes += decoder.heldBytes - held;
    held = decoder.heldBytes;
    if (heldBytes <= mostHeldBytes) return;
    throw new Fault("unavailable", "too many zstd streams are in progress; try again shortly");
  };
  try {
    for await (const chunk of chunks) {
      for (const bytes of decoder.push(chunk)) {
        account();
        if (bytes.byteLength > 0) yield bytes;
        await turn();
      }
    }
    decoder.end();
  } finally {
    heldBytes -= held;
  }
}

/** Unpacks bytes that are in memory, for small content. */
export async function unzstdWhole(bytes: Uint8Array, mostBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of unzstd(inOneChunk(bytes), mostBytes)) parts.push(part);
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
}

/** Packs a stream into independent frames: at least one, so that empty input also gives a valid stream. */
export async function* zstd(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const turn = takingTurns();
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  let frames = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.byteLength; ) {
      const part = chunk.subarray(at, at + frameBytes - bytes);
      waiting.push(part);
      bytes += part.byteLength;
      at += part.byteLength;
      if (bytes < frameBytes) continue;
      yield await zstdFrame(joined(waiting));
      frames++;
      waiting = [];
      bytes = 0;
      await turn();
    }
  }
  if (bytes > 0 || frames === 0) yield await zstdFrame(joined(waiting));
}

/** Packs bytes that are in memory. */
export async function zstdWhole(bytes: Uint8Array): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of zstd(inOneChunk(bytes))) parts.push(part);
  return joined(parts);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
}

async function* inOneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}
