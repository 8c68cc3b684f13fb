import type { InputDifference } from "#api/action-comparison.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { decodeDirectory } from "#cas/directory-message.ts";
import { type Digest, type DigestFunction, digestKey, functionOf } from "#core/digest.ts";

interface TreeComparison {
  readonly differences: readonly InputDifference[];
  /** Whether the comparison ended at a limit, so that there may be more differences. */
  readonly isCut: boolean;
  /** A directory that is no longer in the store: what is below it was not compared. */
  readonly missing: boolean;
}

/** Directories read for one comparison. Equal ones are not read. */
const mostDirectories = 2_000;
/** A larger Directory is not read: it has far more entries than anybody compares. */
const mostDirectoryBytes = 4 * 1024 * 1024;

/** Compares two input trees by path, at most `most` differences. Reads only directories that differ. */
export async function compareTrees(
  blobs: BlobStore,
  before: Digest,
  after: Digest,
  most: number,
): Promise<TreeComparison> {
  const differences: InputDifference[] = [];
  const pending = [{ path: "", before, after }];
  let reads = 0;
  let missing = false;
  for (let pair = pending.shift(); pair !== undefined; pair = pending.shift()) {
    if (differences.length > most || reads >= mostDirectories) {
      return { differences: differences.slice(0, most), isCut: true, missing };
    }
    reads += 2;
    const old = await childrenOf(blobs, pair.before);
    const now = await childrenOf(blobs, pair.after);
    if (old === undefined || now === undefined) {
      missing = true;
      continue;
    }
    for (const name of [...new Set([...old.keys(), ...now.keys()])].toSorted()) {
      const path = pair.path === "" ? name : `${pair.path}/${name}`;
      const [was, is] = [old.get(name), now.get(name)];
      if (was?.content === is?.content) continue;
      if (was?.directory !== undefined && is?.directory !== undefined) {
        pending.push({ path, before: was.directory, after: is.directory });
      } else {
        const change = was === undefined ? "added" : is === undefined ? "removed" : "changed";
        differences.push({ path, change });
      }
    }
  }
  return {
    differences: differences.slice(0, most),
    isCut: differences.length > most,
    missing,
  };
}

interface Child {
  /** Equal texts mean equal children. */
  readonly content: string;
  readonly directory?: Digest;
}

async function childrenOf(
  blobs: BlobStore,
  digest: Digest,
): Promise<Map<string, Child> | undefined> {
  if (digest.sizeBytes > mostDirectoryBytes) return undefined;
  const bytes = digest.sizeBytes === 0 ? new Uint8Array() : await blobs.get(digest);
  return bytes && childrenIn(bytes, functionOf(digest));
}

function childrenIn(bytes: Uint8Array, by: DigestFunction): Map<string, Child> {
  const { files, directories, symlinks } = decodeDirectory(bytes);
  const children = new Map<string, Child>();
  for (const { name, digest, isExecutable } of files) {
    const content = digestKey(fromDigestMessage(digest, name, by));
    children.set(name, { content: `file ${content} ${isExecutable}` });
  }
  for (const { name, digest } of directories) {
    const directory = fromDigestMessage(digest, name, by);
    children.set(name, { content: `directory ${digestKey(directory)}`, directory });
  }
  for (const { name, target } of symlinks) children.set(name, { content: `link ${target}` });
  return children;
}
