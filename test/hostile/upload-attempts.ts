import assert from "node:assert/strict";
import { create } from "@bufbuild/protobuf";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { ContentAddressableStorage } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { ByteStream, WriteRequestSchema } from "#proto/google/bytestream/bytestream_pb.ts";
import { codeOf } from "../build-tools/hostile-target.ts";
import type { HostileCase } from "./case.ts";
import { type HostileFarm } from "./hostile-farm.ts";
import { isOneOf } from "./known-attacks.ts";

const { findMissingBlobs } = ContentAddressableStorage.method;

interface Piece {
  readonly resourceName?: string;
  readonly writeOffset?: bigint;
  readonly data?: Uint8Array;
  readonly finishWrite?: boolean;
}

export function upload({ channel }: HostileFarm, pieces: Iterable<Piece>): Promise<string> {
  return codeOf(() =>
    channel.clientStream(
      ByteStream.method.write,
      (async function* () {
        for (const piece of pieces) yield create(WriteRequestSchema, piece);
      })(),
    ),
  );
}

export const fresh = (what: string) => Buffer.from(`${what} ${process.hrtime.bigint()}`);
export const nameOf = (digest: Digest, id = "a", packed = "") =>
  `uploads/${id}/${packed === "" ? "blobs" : `compressed-blobs/${packed}`}/${digestKey(digest)}`;

export async function isStored({ channel }: HostileFarm, digest: Digest): Promise<boolean> {
  const asked = { blobDigests: [toDigestMessage(digest)] };
  return (await channel.unary(findMissingBlobs, asked)).missingBlobDigests.length === 0;
}

/** Checks that an upload is refused with this code, and that the blob does not exist. */
export function refused(
  name: string,
  wanted: string,
  pieces: (bytes: Buffer, digest: Digest) => Promise<Iterable<Piece>> | Iterable<Piece>,
): HostileCase<HostileFarm> {
  return {
    name,
    async run(farm) {
      const bytes = fresh(name);
      const digest = digestOf(bytes);
      isOneOf(await upload(farm, await pieces(bytes, digest)), ...wanted.split("|"));
      assert.equal(await isStored(farm, digest), false, "it is in the store");
    },
  };
}
