import { promisify } from "node:util";
import { gunzip, inflate } from "node:zlib";
import { Fault } from "#core/fault.ts";

export type Decompress = (bytes: Uint8Array, mostBytes: number) => Promise<Uint8Array>;

/** The encodings that a peer may send; we send everything uncompressed. */
export const acceptedEncodings = "identity,gzip,deflate";

const decompressors = new Map<string, Decompress>([
  [
    "identity",
    () => {
      throw new Fault("internal", "a message is marked compressed, but no encoding is named");
    },
  ],
  ["gzip", within(promisify(gunzip))],
  ["deflate", within(promisify(inflate))],
]);

/** Returns the decompressor for a `grpc-encoding`; throws `unimplemented` for unsupported ones. */
export function decompressorFor(encoding: string | undefined): Decompress {
  const found = decompressors.get(encoding ?? "identity");
  if (found !== undefined) return found;
  throw new Fault(
    "unimplemented",
    `messages with the encoding ${String(encoding)} are not supported; use ${acceptedEncodings}`,
  );
}

/** A small message may unpack to a huge one: the limit counts the unpacked bytes. */
function within(
  unpack: (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>,
): Decompress {
  return async (bytes, mostBytes) => {
    try {
      return await unpack(bytes, { maxOutputLength: Math.max(1, mostBytes) });
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") {
        throw new Fault("resource_exhausted", `a message unpacks to more than ${mostBytes} bytes`, {
          cause,
        });
      }
      throw new Fault("internal", "a compressed message could not be unpacked", { cause });
    }
  };
}
