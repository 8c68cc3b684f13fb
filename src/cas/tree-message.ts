import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import {
  type Directory,
  type Tree,
  TreeSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { DirectoryTree } from "./build-directory-tree.ts";
import { checkDirectory, encodeDirectory } from "./directory-message.ts";
import { flattenDirectories, type TreeLimits, usualTreeLimits } from "./flatten-directory-tree.ts";
import type { TreeEntry } from "./tree-entry.ts";

/** A tree in one message, as an ActionResult refers to it. */
export function toTreeMessage({ root, directories }: DirectoryTree): Tree {
  const children = [...directories.values()].filter((directory) => directory !== root);
  return create(TreeSchema, {
    root: root.message,
    children: children.map(({ message }) => message),
  });
}

export function encodeTree(tree: DirectoryTree): Uint8Array {
  return toBinary(TreeSchema, toTreeMessage(tree));
}

/** Decodes a Tree that somebody else made. Throws `invalid_argument` when it is not one. */
export function decodeTree(bytes: Uint8Array): Tree {
  try {
    return fromBinary(TreeSchema, bytes);
  } catch (cause) {
    throw new Fault("invalid_argument", "a tree cannot be decoded", { cause });
  }
}

/**
 * The entries of a Tree, sorted by path, under the same rules as those of
 * directories in a store.
 *
 * Children are known by their digest alone, so a tree cannot hold itself.
 */
export async function flattenTree(
  tree: Tree,
  limits: TreeLimits = usualTreeLimits,
): Promise<TreeEntry[]> {
  if (tree.root === undefined) throw new Fault("invalid_argument", "a tree has no root");
  if (tree.children.length > limits.maxEntries) {
    throw new Fault("resource_exhausted", `the tree has more than ${limits.maxEntries} entries`);
  }
  const children = new Map<string, Directory>();
  for (const child of tree.children) {
    checkDirectory(child);
    children.set(digestKey(encodeDirectory(child).digest), child);
  }
  checkDirectory(tree.root);
  const load = async (digest: Digest): Promise<Directory> => {
    const child = children.get(digestKey(digest));
    if (child) return child;
    throw new Fault("invalid_argument", `a tree lacks its directory ${digestKey(digest)}`);
  };
  return flattenDirectories(tree.root, load, limits);
}
