import { fromBinary } from "@bufbuild/protobuf";
import { mostNamed } from "#caches/rev2/missing-blobs.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { assertFewParts } from "#cas/message-parts.ts";
import { type Digest, digestKey, functionOf } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { DirectorySchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import { takingTurns } from "#scheduling/take-turns.ts";

/** How many directories are read; for a larger tree the answer is incomplete. */
const mostDirectories = 100_000;
/** How many files are checked, each once. */
const mostFiles = 500_000;
const mostDirectoryBytes = 16 * 1_048_576;
const mostParts = 500_000;
const readAtOnce = 16;
const requestedAtOnce = 4_096;

const isAboutTheDirectory: ReadonlySet<Fault["code"]> = new Set([
  "invalid_argument",
  "resource_exhausted",
]);

/** Calls that joined one execution get its end at the same moment and need the same answer. */
const underWay = new WeakMap<BlobStore, Map<string, Promise<Digest[]>>>();

/**
 * Returns the blobs of an input tree that are not in the store, as far as the stored directories show.
 *
 * It reads every directory. Call it only when a blob is known to be missing: then the client gets the whole list at
 * once. An illegal directory hides what is below it, and is not reported here.
 */
export function missingInputs(blobs: BlobStore, root: Digest): Promise<Digest[]> {
  const here = underWay.get(blobs) ?? new Map<string, Promise<Digest[]>>();
  underWay.set(blobs, here);
  const key = digestKey(root);
  const found = here.get(key);
  if (found !== undefined) return found;
  const walk = walkTree(blobs, root).finally(() => here.delete(key));
  here.set(key, walk);
  return walk;
}

async function walkTree(blobs: BlobStore, root: Digest): Promise<Digest[]> {
  const by = functionOf(root);
  const turn = takingTurns();
  const seen = new Map<string, Digest>([[digestKey(root), root]]);
  const files = new Map<string, Digest>();
  const missing: Digest[] = [];
  let level: Digest[] = [root];

  const childrenOf = async (directory: Digest): Promise<Digest[]> => {
    await turn();
    // The server does not read a larger blob as a directory, so it is not checked.
    if (directory.sizeBytes > mostDirectoryBytes || files.size > mostFiles) return [];
    const bytes = await blobs.get(directory);
    if (bytes === undefined) {
      missing.push(directory);
      return [];
    }
    try {
      assertFewParts(DirectorySchema, bytes, mostParts);
      const { files: leaves, directories } = fromBinary(DirectorySchema, bytes);
      for (const { digest } of leaves) {
        const file = fromDigestMessage(digest, "a file", by);
        files.set(digestKey(file), file);
      }
      return directories.map(({ digest }) => fromDigestMessage(digest, "a directory", by));
    } catch (reason) {
      if (reason instanceof Fault && !isAboutTheDirectory.has(reason.code)) throw reason;
      return [];
    }
  };

  while (level.length > 0) {
    const below = (await mapAtMost(readAtOnce, level, childrenOf)).flat();
    level = below.filter((digest) => {
      const key = digestKey(digest);
      if (seen.has(key) || seen.size >= mostDirectories) return false;
      seen.set(key, digest);
      return true;
    });
  }
  const leaves = [...files.values()];
  for (let at = 0; at < leaves.length && missing.length < mostNamed; at += requestedAtOnce) {
    await turn();
    missing.push(...(await blobs.findMissing(leaves.slice(at, at + requestedAtOnce))));
  }
  return missing.slice(0, mostNamed);
}
