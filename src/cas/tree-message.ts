import { create, fromBinary, mergeFromBinary, toBinary } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { type Digest, type DigestFunction, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import {
  type Directory,
  DirectorySchema,
  type Tree,
  TreeSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { takingTurns } from "#scheduling/take-turns.ts";
import type { DirectoryTree } from "./build-directory-tree.ts";
import {
  checkDirectory,
  type EncodedDirectory,
  encodeDirectory,
  undecodable,
} from "./directory-message.ts";
import {
  defaultTreeLimits,
  flattenDirectories,
  type LinkPlace,
  type TreeLimits,
} from "./flatten-directory-tree.ts";
import { assertFewParts } from "./message-parts.ts";
import type { TreeEntry } from "./tree-entry.ts";

/** Returns a tree as one message, which an ActionResult refers to. */
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

/** Enough for half a million files with their digests, and as many other parts. */
const mostParts = 2_000_000;

/**
 * Decodes a Tree from another party. Throws `invalid_argument` when it is malformed or has an illegal child, and
 * `resource_exhausted` when it has more parts than the limit for entries.
 *
 * A Tree of 36,000 files takes at least a tenth of a second; it is read directory by directory, so that other work runs
 * in between. Each child is checked before the next is decoded, because a hundred thousand decoded children take a
 * hundred times the memory.
 */
export async function decodeTree(bytes: Uint8Array): Promise<Tree> {
  assertFewParts(TreeSchema, bytes, mostParts);
  const tree = create(TreeSchema);
  const turn = takingTurns();
  try {
    const reader = new BinaryReader(bytes);
    while (reader.pos < reader.len) {
      await turn();
      const [field, wireType] = reader.tag();
      const isMessage = wireType === WireType.LengthDelimited;
      if (isMessage && field === TreeSchema.field.root.number) {
        // protobuf merges repeated occurrences of a singular message field.
        const root = reader.bytes();
        try {
          tree.root = mergeFromBinary(DirectorySchema, tree.root ?? create(DirectorySchema), root);
        } catch (cause) {
          throw undecodable(root, cause);
        }
      } else if (isMessage && field === TreeSchema.field.children.number) {
        tree.children.push(decodedChild(reader.bytes()));
        assertFewChildren(tree, defaultTreeLimits);
      } else {
        reader.skip(wireType, field);
      }
    }
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    throw new Fault("invalid_argument", "a tree cannot be decoded", { cause });
  }
  return tree;
}

function decodedChild(bytes: Uint8Array): Directory {
  let child: Directory;
  try {
    child = fromBinary(DirectorySchema, bytes);
  } catch (cause) {
    throw undecodable(bytes, cause);
  }
  checkDirectory(child);
  return child;
}

/** A Tree whose Directories are all checked and can be found by digest. */
export interface OpenTree {
  readonly root: EncodedDirectory;
  /** By digest key: children are identified only by digest, so a tree cannot contain itself. */
  readonly children: ReadonlyMap<string, EncodedDirectory>;
  /** The digest function of all digests in it. */
  readonly by: DigestFunction;
}

function assertFewChildren({ children }: Tree, { maxEntries }: TreeLimits): void {
  if (children.length <= maxEntries) return;
  throw new Fault("resource_exhausted", `the tree has more than ${maxEntries} entries`);
}

/**
 * Opens a decoded Tree, whose children are already checked. Throws `invalid_argument` for an illegal root,
 * `resource_exhausted` beyond the limits.
 */
export async function openTree(
  tree: Tree,
  by: DigestFunction,
  limits: TreeLimits = defaultTreeLimits,
): Promise<OpenTree> {
  if (tree.root === undefined) throw new Fault("invalid_argument", "a tree has no root");
  assertFewChildren(tree, limits);
  const turn = takingTurns();
  const children = new Map<string, EncodedDirectory>();
  for (const child of tree.children) {
    await turn();
    const encoded = encodeDirectory(child, by);
    children.set(digestKey(encoded.digest), encoded);
  }
  checkDirectory(tree.root);
  return { root: encodeDirectory(tree.root, by), children, by };
}

/**
 * Returns the entries of a Tree, sorted by path, under the same rules as those of directories in a store.
 *
 * @param by The function of the Tree's own digest; the digests inside do not state theirs.
 */
export async function flattenTree(
  tree: Tree,
  by: DigestFunction,
  links?: LinkPlace,
): Promise<TreeEntry[]> {
  return flattenOpenTree(await openTree(tree, by), defaultTreeLimits, links);
}

export function flattenOpenTree(
  { root, children, by }: OpenTree,
  limits: TreeLimits = defaultTreeLimits,
  links?: LinkPlace,
): Promise<TreeEntry[]> {
  const load = async (digest: Digest): Promise<Directory> => {
    const child = children.get(digestKey(digest));
    if (child) return child.message;
    throw new Fault("invalid_argument", `a tree lacks its directory ${digestKey(digest)}`);
  };
  return flattenDirectories(root.message, by, load, limits, links);
}
