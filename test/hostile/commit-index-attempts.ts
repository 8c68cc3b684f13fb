import { createHash, randomUUID } from "node:crypto";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { encodeIndex } from "#commit-index/encode-index.ts";
import type { IndexDelta, IndexEntry } from "#commit-index/index-entry.ts";
import { type Digest, digestFrom } from "#core/digest.ts";
import type { GrpcChannel } from "#grpc/channel.ts";
import { remoteBlobStore } from "#grpc/remote-blob-store.ts";
import {
  CommitIndexSchema,
  Granaries,
  type IndexEntrySchema,
} from "#proto/grange/granary/v1/granary_pb.ts";
import { codeOf } from "../build-tools/hostile-target.ts";
import type { HostileCase } from "./case.ts";
import { type ClosedFarm } from "./closed-farm.ts";
import { type HostileFarm } from "./hostile-farm.ts";
import { isOneOf } from "./known-attacks.ts";

export interface Farms extends HostileFarm {
  readonly closed: ClosedFarm;
}
export type Case = HostileCase<Farms>;

export const rpc = Granaries.method;
export const sha = (text: string) => createHash("sha1").update(text).digest("hex");
export const made = (text: string, sizeBytes: number) =>
  digestFrom("sha256", createHash("sha256").update(text).digest("hex"), sizeBytes);

export const entry = (
  key: string,
  blobs: readonly Digest[],
  more: Partial<IndexEntry> = {},
): IndexEntry => ({
  namespace: "ccache",
  key,
  blobs,
  firstMs: 0,
  savedMs: undefined,
  inputs: undefined,
  ...more,
});
export const alone = (entries: readonly IndexEntry[], more: Partial<IndexDelta> = {}) =>
  encodeIndex({ base: undefined, entries, removed: [], ...more });
/** Our client would respect the limits, so these are raw calls. */
const keyK = { namespace: "ccache", key: "k" };
export const written = (
  said: Pick<MessageInitShape<typeof IndexEntrySchema>, "blobs" | "inputs">,
) =>
  toBinary(CommitIndexSchema, create(CommitIndexSchema, { entries: [{ result: keyK, ...said }] }));
export const repeated = (piece: Uint8Array, times: number) =>
  Buffer.concat(Array.from({ length: times }, () => piece));

interface Publishing {
  readonly commit?: string;
  readonly repository?: string;
  readonly targets?: string[];
  readonly commits?: string[];
}

/** The project's blobs, to which the attempts refer. */
export const blobsOf = (channel: GrpcChannel) => remoteBlobStore(channel, "hostile");

/** Returns the code of a refusal, or how many entries were accepted. */
export async function published(
  channel: GrpcChannel,
  entries: Digest,
  { commit = randomUUID(), repository = "", targets = [], commits }: Publishing = {},
  instanceName = "hostile",
): Promise<string> {
  let taken = 0;
  const code = await codeOf(async () => {
    ({ taken } = await channel.unary(rpc.publishIndex, {
      instanceName,
      repository,
      commits: commits ?? [sha(commit)],
      environment: "linux",
      entries: toDigestMessage(entries),
      targets,
    }));
  });
  return code === "ok" ? `${taken} taken` : code;
}

export function refused(
  name: string,
  bytes: (full: boolean) => Uint8Array,
  ...wanted: string[]
): Case {
  return {
    name,
    alone: true,
    async run(farm) {
      const index = bytes(farm.full);
      const digest = digestOf(index);
      await blobsOf(farm.channel).write(
        digest,
        (async function* () {
          for (let at = 0; at < index.byteLength; at += 1_048_576)
            yield index.subarray(at, at + 1_048_576);
        })(),
      );
      isOneOf(await published(farm.channel, digest), ...wanted);
    },
  };
}
