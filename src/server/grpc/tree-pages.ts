import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { decodeDirectory } from "#cas/directory-message.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { Directory } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

export interface TreePage {
  readonly directories: Directory[];
  /** Where a later call goes on: how many directories came before. Empty after the last. */
  readonly nextPageToken: string;
}

/** A page ends when it holds so much, so that it fits into one message. */
const mostPageBytes = 1_048_576;
const mostPageSize = 10_000;
const mostDirectoryBytes = 4 * 1_048_576;

/**
 * All directories below a root, each once, parents before children.
 *
 * A directory that is not here is left out, with what is only below it: the client
 * sees what is missing and uploads it. Only a missing root is an error.
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

async function* walk(blobs: BlobStore, root: Digest) {
  const seen = new Set([digestKey(root)]);
  const queue = [root];
  for (let digest = queue.shift(); digest !== undefined; digest = queue.shift()) {
    if (digest.sizeBytes > mostDirectoryBytes) {
      throw new Fault("resource_exhausted", `directory ${digestKey(digest)} fits into no message`);
    }
    const bytes = await blobs.get(digest);
    if (bytes === undefined) {
      if (digest === root) throw new Fault("not_found", `the root ${digestKey(root)} is not here`);
      continue;
    }
    const directory = decodeDirectory(bytes);
    for (const child of directory.directories) {
      const below = fromDigestMessage(child.digest, child.name);
      if (seen.has(digestKey(below))) continue;
      seen.add(digestKey(below));
      queue.push(below);
    }
    yield { directory, size: bytes.byteLength };
  }
}
