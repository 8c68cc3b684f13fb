import { promisify } from "node:util";
import * as zlib from "node:zlib";
import { compress, init } from "@bokuweb/zstd-wasm";

/** Level 1 packs twice as fast as zstd's usual 3, and 10 % worse. */
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

/** Packs bytes into one frame: in Node's thread pool where it can, in WebAssembly on this thread elsewhere. */
export const zstdFrame: (bytes: Uint8Array) => Promise<Uint8Array> =
  native.zstdCompress === undefined ? inWebAssembly : inThreadPool(native.zstdCompress);

let ready: Promise<void> | undefined;

/** Loads zstd's WebAssembly. Once in a process: the package's own `init` breaks what runs when it is called again. */
export function zstdInWebAssembly(): Promise<void> {
  ready ??= init();
  return ready;
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
