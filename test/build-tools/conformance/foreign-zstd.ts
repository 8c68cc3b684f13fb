import { compress, decompress, init } from "@bokuweb/zstd-wasm";

// Once in a process: a second time breaks what runs.
await init();

/** Packs bytes as clients do, by the reference implementation. */
export function packed(bytes: Uint8Array): Buffer {
  return Buffer.from(compress(Buffer.from(bytes), 3));
}

export function unpacked(bytes: Uint8Array | undefined): Buffer {
  return Buffer.from(decompress(Buffer.from(bytes ?? [])));
}
