import { promisify } from "node:util";
import * as zlib from "node:zlib";
import { compress, init } from "@bokuweb/zstd-wasm";

/** Level 1 is twice as fast as zstd's default level 3, and its output is 10 % larger. */
const level = 1;

type ZstdCompress = (
  bytes: Uint8Array,
  options: { readonly params: Readonly<Record<number, number>> },
  done: (reason: Error | null, packed: Uint8Array) => void,
) => void;

/** Functions that Node has since 22.15; the types of older versions lack them. */
const native = zlib as unknown as {
  readonly zstdCompress?: ZstdCompress;
  readonly constants: { readonly ZSTD_c_compressionLevel?: number };
};

/** Packs bytes into one frame: in Node's thread pool if supported, otherwise in WebAssembly on this thread. */
export const zstdFrame: (bytes: Uint8Array) => Promise<Uint8Array> =
  native.zstdCompress === undefined ? inWebAssembly : inThreadPool(native.zstdCompress);

/** Where the promise is: one process may load this module several times, as processes of tests do for each file. */
const readyKey = Symbol.for("grange: zstd in WebAssembly");
const ofProcess = globalThis as { [readyKey]?: Promise<void> };

/**
 * Loads zstd's WebAssembly. Once in a process, because a second call of the package's own `init` breaks running
 * operations.
 */
export function zstdInWebAssembly(): Promise<void> {
  ofProcess[readyKey] ??= init();
  return ofProcess[readyKey];
}

async function inWebAssembly(bytes: Uint8Array): Promise<Uint8Array> {
  await zstdInWebAssembly();
  return compress(bytes, level);
}

function inThreadPool(zstdCompress: ZstdCompress) {
  const packed = promisify(zstdCompress);
  const params = { [native.constants.ZSTD_c_compressionLevel ?? 100]: level };
  return (bytes: Uint8Array): Promise<Uint8Array> => packed(bytes, { params });
}
