import { create } from "@bufbuild/protobuf";
import { type Digest, type DigestFunction, digestKey, functionOf } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import {
  type DirectoryNode,
  DirectoryNodeSchema,
  DirectorySchema,
  type FileNode,
  FileNodeSchema,
  type SymlinkNode,
  SymlinkNodeSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import type { BlobStore } from "./blob-store.ts";
import { toDigestMessage } from "./digest-message.ts";
import { type EncodedDirectory, encodeDirectory } from "./directory-message.ts";
import { joined, problemOfPath, problemOfTarget, refuse } from "./path-rules.ts";
import { compareByCodePoint, type TreePart } from "./tree-entry.ts";

/** A tree of files in REv2's form. */
export interface DirectoryTree {
  readonly root: EncodedDirectory;
  /**
   * Every directory once, by digest key, parents before their children. The root is the first. Directories of subtrees
   * are not included.
   */
  readonly directories: ReadonlyMap<string, EncodedDirectory>;
}

/**
 * Builds the directories that contain these entries, which may be in any order.
 *
 * Throws `invalid_argument` for an illegal path or symlink, for a duplicate path, and for a path that is both a file
 * and a directory.
 *
 * @param by The function of every digest in the tree, including those of the entries. @param at The place of the tree
 * below the root that its symlinks may not leave.
 */
export function buildDirectoryTree(
  entries: readonly TreePart[],
  by: DigestFunction = "sha256",
  at = "",
): DirectoryTree {
  const root: Folder = new Map();
  for (const entry of entries) insert(root, entry, at);
  const childrenFirst = new Map<string, EncodedDirectory>();
  const encoded = encode(root, by, childrenFirst);
  const directories = new Map([...childrenFirst].reverse());
  return { root: encoded, directories };
}

/** Uploads the missing directories of a tree to a store. Returns the root's digest. */
export async function uploadDirectories(store: BlobStore, tree: DirectoryTree): Promise<Digest> {
  await putMissing(store, [...tree.directories.values()]);
  return tree.root.digest;
}

/** Uploads those of the blobs that a store lacks. */
export async function putMissing(
  store: BlobStore,
  blobs: readonly { readonly digest: Digest; readonly bytes: Uint8Array }[],
): Promise<void> {
  const missing = await store.findMissing(blobs.map(({ digest }) => digest));
  const absent = new Set(missing.map(digestKey));
  const toPut = blobs.filter(({ digest }) => absent.has(digestKey(digest)));
  await mapAtMost(16, toPut, ({ digest, bytes }) => store.put(digest, bytes));
}

type Leaf = Exclude<TreePart, { kind: "directory" }>;
type Folder = Map<string, Folder | Leaf>;

function insert(root: Folder, entry: TreePart, at: string): void {
  const { path } = entry;
  refuse(path, problemOfPath(path));
  if (entry.kind === "symlink") refuse(path, problemOfTarget(joined(at, path), entry.target));
  const names = path.split("/");
  const last = entry.kind === "directory" ? undefined : names.pop();
  let folder = root;
  names.forEach((name, depth) => {
    const there = folder.get(name) ?? new Map();
    if (!(there instanceof Map)) {
      refuse(names.slice(0, depth + 1).join("/"), `is a ${there.kind} and a directory`);
    } else {
      folder.set(name, there);
      folder = there;
    }
  });
  if (last === undefined || entry.kind === "directory") return;
  const there = folder.get(last);
  if (there) refuse(path, there instanceof Map ? `is a ${entry.kind} and a directory` : "is twice");
  folder.set(last, entry);
}

function encode(
  folder: Folder,
  by: DigestFunction,
  into: Map<string, EncodedDirectory>,
): EncodedDirectory {
  const message = (digest: Digest) => {
    if (functionOf(digest) === by) return toDigestMessage(digest);
    throw new Fault("internal", `a tree by ${by} cannot hold ${digestKey(digest)}`);
  };
  const files: FileNode[] = [];
  const directories: DirectoryNode[] = [];
  const symlinks: SymlinkNode[] = [];
  for (const [name, child] of [...folder].sort(([a], [b]) => compareByCodePoint(a, b))) {
    if (child instanceof Map) {
      const digest = message(encode(child, by, into).digest);
      directories.push(create(DirectoryNodeSchema, { name, digest }));
      continue;
    }
    switch (child.kind) {
      case "subtree": {
        const digest = message(child.digest);
        directories.push(create(DirectoryNodeSchema, { name, digest }));
        break;
      }
      case "symlink":
        symlinks.push(
          create(SymlinkNodeSchema, { name, target: child.target, ...properties(child) }),
        );
        break;
      case "file": {
        const digest = message(child.digest);
        const isExecutable = child.executable;
        files.push(create(FileNodeSchema, { name, digest, isExecutable, ...properties(child) }));
        break;
      }
    }
  }
  const encoded = encodeDirectory(create(DirectorySchema, { files, directories, symlinks }), by);
  // The first occurrence is kept: its parents always come later, because no directory contains itself.
  const key = digestKey(encoded.digest);
  if (!into.has(key)) into.set(key, encoded);
  return encoded;
}

function properties({ properties }: Exclude<Leaf, { readonly kind: "subtree" }>) {
  return properties === undefined ? {} : { nodeProperties: properties };
}
