import { randomBytes } from "node:crypto";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { ContentAddressableStorage } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/** On one small action. */
export interface Spent {
  readonly ms: number;
  /** The time for which the server's main thread worked, for any client. */
  readonly serverMs: number;
}

/** A build tool that checks for blobs and fetches a few small ones. */
export interface HonestClient {
  /** Makes the calls of a small action this many times; returns the duration of each. */
  work(times: number): Promise<Spent[]>;
  stop(): Promise<void>;
}

/** The time between two actions, in ms. */
export const ownWorkMs = 5;

const { findMissingBlobs, batchUpdateBlobs, batchReadBlobs } = ContentAddressableStorage.method;

export async function honestClient(
  url: string,
  serverWorkedMs: () => number,
): Promise<HonestClient> {
  const channel = new GrpcChannel({ url });
  const blobs = Array.from({ length: 10 }, () => randomBytes(1_000));
  const digests = blobs.map((bytes) => toDigestMessage(digestOf(bytes)));
  await channel.unary(batchUpdateBlobs, {
    requests: blobs.map((data, n) => ({ data, ...(digests[n] ? { digest: digests[n] } : {}) })),
  });
  return {
    async work(times) {
      const spent: Spent[] = [];
      for (let n = 0; n < times; n++) {
        const workedBefore = serverWorkedMs();
        const since = performance.now();
        await channel.unary(findMissingBlobs, {
          blobDigests: [...digests, toDigestMessage(digestOf(randomBytes(8)))],
        });
        const { responses } = await channel.unary(batchReadBlobs, { digests });
        if (responses.some(({ data }) => data.byteLength !== 1_000))
          throw new Error("a blob is short");
        const ms = performance.now() - since;
        spent.push({ ms, serverMs: serverWorkedMs() - workedBefore });
        // As a build tool with other work in between.
        await new Promise((resolve) => setTimeout(resolve, ownWorkMs));
      }
      return spent;
    },
    stop: () => channel.stop(),
  };
}
