import { randomBytes, randomUUID } from "node:crypto";
import { DigestFunction_Value as By } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { ByteStream } from "#proto/google/bytestream/bytestream_pb.ts";
import { type Headers } from "./foreign-client.ts";
import { bytesOf, digestBy, nameOf } from "./foreign-digest.ts";
import type { SharedFarm } from "./shared-farm.ts";

const { read, write, queryWriteStatus } = ByteStream.method;

interface Sending {
  readonly data: Uint8Array;
  readonly chunk?: number;
  /** The offset of the first message. */
  readonly from?: number;
  /** Sends this many bytes, and then cuts the connection. */
  readonly cutAt?: number;
  readonly headers?: Headers;
}

/** Calls of ByteStream as clients make them, and blobs for these calls. */
export function blobStreams(farm: () => SharedFarm) {
  const readAll = async (resourceName: string, readOffset = 0n, readLimit = 0n) => {
    const parts = await farm().client.stream(read, { resourceName, readOffset, readLimit }).rest();
    return Buffer.concat(parts.map(({ data }) => data));
  };
  const send = async (resourceName: string, sending: Sending) => {
    const { data, chunk = 50_000, from = 0, cutAt, headers } = sending;
    const end = cutAt ?? data.byteLength;
    const messages = [];
    for (let at = from; at < end || at === from; at += chunk) {
      const until = Math.min(at + chunk, end);
      messages.push({
        // Most clients send the name in the first message only.
        resourceName: at === from ? resourceName : "",
        writeOffset: BigInt(at),
        data: data.subarray(at, until),
        finishWrite: until === data.byteLength,
      });
    }
    const how = cutAt === undefined ? "end" : "cut";
    return Number((await farm().client.upload(write, messages, headers, how)).committedSize);
  };
  const status = (resourceName: string) => farm().client.unary(queryWriteStatus, { resourceName });

  async function aBlob(length = 180_000, by: By = By.SHA256) {
    const data = bytesOf(randomBytes(length / 2).toString("hex"));
    const digest = await digestBy(by, data);
    const name = by === By.BLAKE3 ? `blake3/${nameOf(digest)}` : nameOf(digest);
    return { data, digest, name, upload: `uploads/${randomUUID()}/blobs/${name}` };
  }
  const packedNames = (name: string) => ({
    upload: `uploads/${randomUUID()}/compressed-blobs/zstd/${name}`,
    download: `compressed-blobs/zstd/${name}`,
  });

  return { readAll, send, status, aBlob, packedNames };
}
