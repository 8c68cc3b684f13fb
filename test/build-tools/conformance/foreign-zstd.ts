import { compress, decompress } from "@bokuweb/zstd-wasm";
import { zstdInWebAssembly } from "#cas/zstd/zstd-frame.ts";

await zstdInWebAssembly();

/** Compresses bytes as clients do, with the reference implementation. */
export function packed(bytes: Uint8Array): Buffer {
  return Buffer.from(compress(Buffer.from(bytes), 3));
}

export function unpacked(bytes: Uint8Array | undefined): Buffer {
  return Buffer.from(decompress(Buffer.from(bytes ?? [])));
}
