import { fromBinary } from "@bufbuild/protobuf";
import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { decodeDirectory } from "#cas/directory-message.ts";
import { assertFewParts } from "#cas/message-parts.ts";
import { type Digest, digestKey, functionOf } from "#core/digest.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import { ActionSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";

const atOnce = 16;
const largeBytes = 1024 * 1024;
const mostMessageBytes = 4 * 1024 * 1024;
const mostParts = 250_000;

/**
 * How long a blob that the farm has reported counts as present there, in ms: the farm keeps blobs that were checked.
 */
const trustedForMs = 5 * 60_000;
const rememberedDigests = 200_000;

/**
 * Uploads the inputs of an action that this machine has to a project of a farm. The farm reports inputs that neither
 * has.
 */
interface InputUploader {
  bring(farm: BlobStore, project: string, action: Digest): Promise<void>;
  /** Must be called when the farm reports missing blobs: all cached presence is dropped. */
  forget(): void;
}

export function inputUploader(local: BlobStore): InputUploader {
  let seen = recentlyUsed<number>(rememberedDigests);
  const nameOf = (project: string, digest: Digest) => `${project} ${digestKey(digest)}`;
  const isThere = (project: string, digest: Digest) =>
    performance.now() - (seen.peek(nameOf(project, digest)) ?? Number.NEGATIVE_INFINITY) <
    trustedForMs;

  async function message(digest: Digest): Promise<Uint8Array | undefined> {
    return digest.sizeBytes <= mostMessageBytes ? local.get(digest) : undefined;
  }

  /** Returns all blobs that the action names, except those below a directory that was uploaded before. */
  async function needed(project: string, action: Digest): Promise<Digest[]> {
    const bytes = await message(action);
    if (bytes === undefined) return [];
    assertFewParts(ActionSchema, bytes, mostParts);
    const { commandDigest, inputRootDigest } = fromBinary(ActionSchema, bytes);
    const by = functionOf(action);
    const root = fromDigestMessage(inputRootDigest, "the input root", by);
    const found = new Map<string, Digest>();
    const add = (digest: Digest) => {
      const isNew = !found.has(digestKey(digest)) && !isThere(project, digest);
      if (isNew) found.set(digestKey(digest), digest);
      return isNew;
    };
    let level = add(root) ? [root] : [];
    while (level.length > 0) {
      const read = await mapAtMost(atOnce, level, message);
      level = read.flatMap((directory) => {
        if (directory === undefined) return [];
        const { files, directories } = decodeDirectory(directory);
        for (const file of files) add(fromDigestMessage(file.digest, file.name, by));
        return directories
          .map((below) => fromDigestMessage(below.digest, below.name, by))
          .filter(add);
      });
    }
    add(fromDigestMessage(commandDigest, "the command", by));
    add(action);
    return [...found.values()];
  }

  async function bring(farm: BlobStore, digest: Digest): Promise<boolean> {
    if (digest.sizeBytes <= largeBytes) {
      const bytes = await local.get(digest);
      if (bytes !== undefined) await farm.put(digest, bytes);
      return bytes !== undefined;
    }
    const chunks = await local.read(digest);
    if (chunks !== undefined) await farm.write(digest, chunks);
    return chunks !== undefined;
  }

  return {
    async bring(farm, project, action) {
      const all = await needed(project, action);
      if (all.length === 0) return;
      const missing = await farm.findMissing(all);
      const brought = await mapAtMost(atOnce, missing, (digest) => bring(farm, digest));
      // A directory represents everything below it, so it is remembered only if all of that is present.
      if (!brought.every(Boolean)) return;
      const now = performance.now();
      for (const digest of all) seen.set(nameOf(project, digest), now);
    },
    forget() {
      seen = recentlyUsed<number>(rememberedDigests);
    },
  };
}
