import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { decodeDirectory } from "#cas/directory-message.ts";
import { type Digest, digestKey, functionOf } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { HeldBytes, SharedBytes } from "#grpc/held-bytes.ts";
import type { Directory } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";

interface TreePage {
  readonly directories: Directory[];
  /** The position of the next page: the number of earlier directories. Empty after the last page. */
  readonly nextPageToken: string;
}

/** A page ends at this size, so that it fits into one message. */
const mostPageBytes = 1_048_576;
const mostPageSize = 10_000;
const mostDirectoryBytes = 4 * 1_048_576;
const mostAtOnce = 16;
/** The limit for the remembered directories of a tree, each of which is returned once. */
const mostDirectories = 1_000_000;
const rememberedBytes = 300;
/** The memory limit for all walks in progress, because a slow reader keeps its walk open. */
const allWalks = new SharedBytes(128 * 1_048_576);

/**
 * Returns all directories below a root, each once, parents before children.
 *
 * A missing directory is left out, with everything that is only below it: the client sees the gap and uploads it. Only
 * a missing root is an error.
 *
 * @param pageSize Directories per page; 0 leaves it to the server.
 */
export async function* treePages(
  blobs: BlobStore,
  root: Digest,
  pageSize: number,
  pageToken: string,
): AsyncGenerator<TreePage> {
  if (pageSize < 0) throw new Fault("invalid_argument", `a page size of ${pageSize} is negative`);
  if (!/^\d{0,15}$/.test(pageToken)) {
    throw new Fault("invalid_argument", `${pageToken} is not a page token of this server`);
  }
  const mostOnPage = pageSize === 0 ? mostPageSize : Math.min(pageSize, mostPageSize);
  let skip = Number(pageToken);
  let passed = skip;
  let directories: Directory[] = [];
  let bytes = 0;
  for await (const { directory, size } of walk(blobs, root)) {
    if (skip > 0) {
      skip--;
      continue;
    }
    if (
      directories.length > 0 &&
      (directories.length === mostOnPage || bytes + size > mostPageBytes)
    ) {
      passed += directories.length;
      yield { directories, nextPageToken: String(passed) };
      directories = [];
      bytes = 0;
    }
    directories.push(directory);
    bytes += size;
  }
  yield { directories, nextPageToken: "" };
}

/**
 * Breadth first, so that depth needs no stack; each digest once, so that the work is limited by the number of blobs.
 */
async function* walk(blobs: BlobStore, root: Digest) {
  const held = new HeldBytes({
    most: mostDirectories * rememberedBytes,
    what: "the trees of this call",
    shared: allWalks,
  });
  let refused: Fault | undefined;
  const claim = held.claim((fault) => {
    refused = fault;
    claim.set(0);
  });
  try {
    for await (const { directory, size, seen } of walkBelow(blobs, root)) {
      if (refused !== undefined) throw refused;
      claim.set(seen * rememberedBytes);
      yield { directory, size };
    }
  } finally {
    claim.set(0);
  }
}

async function* walkBelow(blobs: BlobStore, root: Digest) {
  const seen = new Set([digestKey(root)]);
  let queue = [root];
  for (let at = 0; at < queue.length; ) {
    const batch = nextBatch(queue, at);
    at += batch.length;
    const found = await mapAtMost(mostAtOnce, batch, (digest) => blobs.get(digest));
    for (const bytes of found) {
      if (bytes === undefined) continue;
      const directory = decodeDirectory(bytes);
      for (const child of directory.directories) {
        const below = fromDigestMessage(child.digest, child.name, functionOf(root));
        if (seen.has(digestKey(below))) continue;
        seen.add(digestKey(below));
        queue.push(below);
      }
      if (seen.size > mostDirectories) {
        throw new Fault(
          "resource_exhausted",
          `the tree of ${digestKey(root)} has more than ${mostDirectories} directories; request its subdirectories separately`,
        );
      }
      yield { directory, size: bytes.byteLength, seen: seen.size };
    }
    if (batch[0] === root && found[0] === undefined) {
      throw new Fault("not_found", `the root directory ${digestKey(root)} is not in the store`);
    }
    if (at > 10_000) {
      queue = queue.slice(at);
      at = 0;
    }
  }
}

/** Returns the directories that are read at once: small ones together, a large one alone. */
function nextBatch(queue: readonly Digest[], at: number): Digest[] {
  const batch: Digest[] = [];
  let bytes = 0;
  for (const digest of queue.slice(at, at + mostAtOnce)) {
    if (digest.sizeBytes > mostDirectoryBytes) {
      throw new Fault(
        "resource_exhausted",
        `directory ${digestKey(digest)} is larger than ${mostDirectoryBytes} bytes; read it by ByteStream`,
      );
    }
    bytes += digest.sizeBytes;
    if (batch.length > 0 && bytes > mostDirectoryBytes) break;
    batch.push(digest);
  }
  return batch;
}
