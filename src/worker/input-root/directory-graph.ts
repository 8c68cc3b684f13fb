import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { decodeDirectory } from "#cas/directory-message.ts";
import { mapAtMost } from "#cas/map-at-most.ts";
import { quotePath } from "#cas/path-rules.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { Directory } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { InputsMissing } from "../inputs-missing.ts";
import type { LocalStore } from "../local-store.ts";

/** What an input root may ask of a machine, counted at every place where something appears. */
const maxEntries = 1_000_000;
const maxDepth = 200;

/** Each directory of a tree once, with how much is in it. */
export interface DirectoryGraph {
  readonly root: Digest;
  directory(digest: Digest): Directory;
  /** Files, symlinks and directories below, at every place where they appear. */
  entryCount(digest: Digest): number;
}

/** Loads all directories below a root. Throws InputsMissing with those that the farm does not have. */
export async function loadDirectoryGraph(
  root: Digest,
  local: LocalStore,
  farm: BlobStore,
): Promise<DirectoryGraph> {
  const directories = new Map<string, Directory>();
  const missing: Digest[] = [];
  let level = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) throw tooMuch(`is deeper than ${maxDepth} directories`);
    const loaded = await mapAtMost(32, level, async (digest) => {
      try {
        return { digest, directory: decodeDirectory(await local.bytes(digest, farm)) };
      } catch (reason) {
        if (!(reason instanceof InputsMissing)) throw reason;
        missing.push(digest);
        return undefined;
      }
    });
    const below = new Map<string, Digest>();
    for (const found of loaded) {
      if (!found) continue;
      directories.set(digestKey(found.digest), found.directory);
      for (const { name, digest } of found.directory.directories) {
        const child = fromDigestMessage(digest, quotePath(name));
        below.set(digestKey(child), child);
      }
    }
    if (directories.size + below.size > maxEntries) throw tooMuch(`has over ${maxEntries} entries`);
    level = [...below].filter(([key]) => !directories.has(key)).map(([, digest]) => digest);
  }
  if (missing.length > 0) throw new InputsMissing(missing);
  return graphOf(root, directories);
}

function graphOf(root: Digest, directories: ReadonlyMap<string, Directory>): DirectoryGraph {
  const counts = new Map<string, number>();
  const directory = (digest: Digest): Directory => {
    const found = directories.get(digestKey(digest));
    if (!found) throw new Fault("internal", `directory ${digestKey(digest)} was not loaded`);
    return found;
  };
  const entryCount = (digest: Digest, depth = 0): number => {
    const known = counts.get(digestKey(digest));
    if (known !== undefined) return known;
    if (depth > maxDepth) throw tooMuch(`is deeper than ${maxDepth} directories`);
    const { files, symlinks, directories: children } = directory(digest);
    let count = files.length + symlinks.length;
    for (const child of children) {
      count += 1 + entryCount(fromDigestMessage(child.digest, quotePath(child.name)), depth + 1);
    }
    if (count > maxEntries) throw tooMuch(`has more than ${maxEntries} entries`);
    counts.set(digestKey(digest), count);
    return count;
  };
  entryCount(root);
  return { root, directory, entryCount };
}

function tooMuch(how: string): Fault {
  return new Fault("resource_exhausted", `the input tree ${how}`);
}
