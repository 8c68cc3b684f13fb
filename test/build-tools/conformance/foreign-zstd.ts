import { compress, decompress, init } from "@bokuweb/zstd-wasm";

// Once in a process: a second initialization breaks running calls.
await init();

/** Compresses bytes as clients do, with the reference implementation. */
export function packed(bytes: Uint8Array): Buffer {
  return Buffer.from(compress(Buffer.from(bytes), 3));
}

export function unpacked(bytes: Uint8Array | undefined): Buffer {
  return Buffer.from(decompress(Buffer.from(bytes ?? [])));
}
