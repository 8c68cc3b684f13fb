import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { quotePath } from "#cas/path-rules.ts";
import { decodeTree } from "#cas/tree-message.ts";
import { type Digest, type DigestFunction, digestKey } from "#core/digest.ts";
import { FairGate } from "#core/fair-gate.ts";
import { Fault } from "#core/fault.ts";
import type {
  OutputDirectory,
  Tree,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/** Enough for half a million files. */
const maxTreeBytes = 64 * 1024 * 1024;

/** A decoded tree may be many times larger, so only a few large trees are read at the same time. */
const largeTreeBytes = 1_048_576;
const largeTrees = new FairGate(2);

/** Returns the digest of an output directory's Tree, by the function of the action. */
export function treeDigestOf(
  { path, treeDigest }: OutputDirectory,
  by: DigestFunction = "sha256",
): Digest {
  return fromDigestMessage(treeDigest, `the tree of output directory ${quotePath(path)}`, by);
}

/** Fetches a Tree; undefined when it is not in the store. */
export async function fetchTree(store: BlobStore, digest: Digest): Promise<Tree | undefined> {
  if (digest.sizeBytes > maxTreeBytes) {
    throw new Fault(
      "resource_exhausted",
      `tree ${digestKey(digest)} is larger than ${maxTreeBytes} bytes`,
    );
  }
  const read = async () => {
    const bytes = await store.get(digest);
    return bytes && (await decodeTree(bytes));
  };
  return digest.sizeBytes < largeTreeBytes ? read() : largeTrees.through("", read);
}
