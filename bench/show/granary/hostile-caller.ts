import { createHash } from "node:crypto";
import type { BlobStore } from "#cas/blob-store.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import type { Digest } from "#core/digest.ts";
import type { GrpcChannel } from "#grpc/channel.ts";
import { remoteBlobStore } from "#grpc/remote-blob-store.ts";
import {
  Granaries,
  PublishResultsResponse_End_Kind as Kind,
} from "#proto/grange/granary/v1/granary_pb.ts";

export const rpc = Granaries.method;
export const mebibyte = 1_048_576;

/** Returns a commit's id for a word. */
export const sha = (text: string) => createHash("sha1").update(text).digest("hex");

/** Returns the result for this key, in any project. */
export const valueOf = (key: string) => Buffer.from(`value of ${key}`);

/** A malicious holder of the right `cache`. */
export interface Hostile {
  readonly channel: GrpcChannel;
  readonly blobs: BlobStore;
  /** A repository from which the farm can fetch. */
  readonly repository: string;
  /** Uploads an index and publishes it; `commit` is a word. */
  readonly publish: (
    bytes: Uint8Array,
    more?: { readonly commit?: string; readonly repository?: string },
  ) => Promise<{ readonly taken: number; readonly refused: number }>;
  /** Stores a result of ccache with its blob, by default in this project. */
  readonly keep: (key: string, project?: string) => Promise<Digest>;
}

export function hostileOn(channel: GrpcChannel, repository: string): Hostile {
  const blobs = remoteBlobStore(channel, "");
  return {
    channel,
    blobs,
    repository,
    async publish(bytes, { commit = "any", repository: of = "" } = {}) {
      const digest = digestOf(bytes);
      await blobs.write(digest, inChunks(bytes));
      return channel.unary(rpc.publishIndex, {
        repository: of,
        commits: [sha(commit)],
        environment: "e",
        entries: toDigestMessage(digest),
      });
    },
    async keep(key, instanceName = "") {
      const bytes = valueOf(key);
      const value = digestOf(bytes);
      await remoteBlobStore(channel, instanceName).put(value, bytes);
      const results = [{ result: { namespace: "ccache", key }, value: toDigestMessage(value) }];
      const { ends } = await channel.unary(rpc.publishResults, { instanceName, results });
      const [end] = ends;
      if (end?.kind !== Kind.KEPT && end?.kind !== Kind.KNOWN)
        throw new Error(`${key} was not kept: ${JSON.stringify(end)}`);
      return value;
    },
  };
}

export async function* inChunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += mebibyte) yield bytes.subarray(at, at + mebibyte);
}
