import type { BlobStore } from "#cas/blob-store.ts";
import { putMissing } from "#cas/build-directory-tree.ts";
import { isPlain } from "#cas/directory-message.ts";
import { defaultTreeLimits } from "#cas/flatten-directory-tree.ts";
import { levelsAboveRoot, problemOfTargetAnywhere, refuse } from "#cas/path-rules.ts";
import { flattenOpenTree, type OpenTree, openTree } from "#cas/tree-message.ts";
import { type Digest, digestKey, functionOf } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import { takingTurns } from "#scheduling/take-turns.ts";
import { fetchTree } from "./output-tree.ts";
import { type ResultSeals, unsealed } from "./result-seals.ts";

/** The content of a Tree. It depends only on the Tree's bytes, so it never changes. */
interface TreeContent {
  /** The digests of its files, each once. */
  readonly files: readonly Digest[];
  /** The digests of its Directories, the root first. */
  readonly directories: readonly [root: Digest, ...below: Digest[]];
  /** The path with the most bytes: if it is within the length limit, all paths are. "" when there is none. */
  readonly longestPath: string;
  /**
   * The highest number of levels that its symlinks lead above its own root; its place must be at least so deep below
   * the input root.
   */
  readonly levelsAbove: number;
  /** Whether decoding and encoding it again gives the same Directories. */
  readonly isPlain: boolean;
}

/** A Tree whose Directories are stored one by one, in the form that workers read. */
interface StoredDirectories {
  readonly root: Digest;
  readonly longestPath: string;
}

/**
 * Reads the Trees of output directories for callers that need whole Trees and not single files.
 *
 * Throws `invalid_argument` for an illegal Tree, `resource_exhausted` for one beyond the limits.
 */
export interface OutputTrees {
  readonly store: BlobStore;
  /** Verifies the signatures of results, which are checked besides their blobs. */
  readonly seals: ResultSeals;
  /** Undefined when the Tree is not in the store; its blobs are not checked. */
  contentOf(tree: Digest): Promise<TreeContent | undefined>;
  /** Undefined when the Tree is not in the store, or has content that we do not store. */
  storeDirectories(tree: Digest): Promise<StoredDirectories | undefined>;
}

/** The limit for all cached digests; each takes about 200 bytes of memory. */
const rememberedDigests = 400_000;

export const contentsKept = () =>
  recentlyUsed<Promise<TreeContent | undefined>>(
    rememberedDigests,
    (content) => 1 + (content ? content.files.length + content.directories.length : 0),
  );

/**
 * Returns output trees with a cache of the contents of recent Trees.
 *
 * Every job of a graph may use one `node_modules`, which is checked at each hit and takes a second to read. Whether
 * blobs are present may change and is not cached.
 *
 * @param contents The cache, which several stores may share; `name` keeps their Trees apart, so that one project does
 * not reveal the content of a Tree to another.
 */
export function outputTrees(
  store: BlobStore,
  seals: ResultSeals = unsealed,
  contents = contentsKept(),
  name = "",
): OutputTrees {
  const beingStored = new Map<string, Promise<void>>();

  const read = async (digest: Digest): Promise<TreeContent | undefined> => {
    const tree = await fetchTree(store, digest);
    return tree && contentOfTree(await openTree(tree, functionOf(digest)));
  };

  const contentOf = async (digest: Digest): Promise<TreeContent | undefined> => {
    const key = name + digestKey(digest);
    const content = await contents.get(key, () => read(digest));
    // The Tree may be present at the next call.
    if (content === undefined) contents.forget(key);
    return content;
  };

  const putDirectories = async (digest: Digest): Promise<void> => {
    const tree = await fetchTree(store, digest);
    if (tree === undefined) {
      throw new Fault("failed_precondition", `tree ${digestKey(digest)} is not in the store`);
    }
    const { root, children } = await openTree(tree, functionOf(digest));
    await putMissing(store, [root, ...children.values()]);
  };

  return {
    store,
    seals,
    contentOf,
    async storeDirectories(digest) {
      const content = await contentOf(digest);
      if (!content?.isPlain) return undefined;
      const missing = await store.findMissing(content.directories);
      if (missing.length > 0) {
        const key = digestKey(digest);
        const putting =
          beingStored.get(key) ?? putDirectories(digest).finally(() => beingStored.delete(key));
        beingStored.set(key, putting);
        await putting;
      }
      return { root: content.directories[0], longestPath: content.longestPath };
    },
  };
}

async function contentOfTree(tree: OpenTree): Promise<TreeContent> {
  const turn = takingTurns();
  const files = new Map<string, Digest>();
  let longestPath = "";
  let longestBytes = 0;
  let levelsAbove = 0;
  for (const entry of await flattenOpenTree(tree, defaultTreeLimits, "anywhere")) {
    await turn();
    if (entry.kind === "file") files.set(digestKey(entry.digest), entry.digest);
    if (entry.kind === "symlink") {
      refuse(entry.path, problemOfTargetAnywhere(entry.target));
      levelsAbove = Math.max(levelsAbove, levelsAboveRoot(entry.path, entry.target));
    }
    const bytes = Buffer.byteLength(entry.path);
    if (bytes > longestBytes) [longestPath, longestBytes] = [entry.path, bytes];
  }
  const below = [...tree.children.values()];
  let areAllPlain = isPlain(tree.root.message);
  for (const { message } of below) {
    await turn();
    areAllPlain &&= isPlain(message);
  }
  return {
    files: [...files.values()],
    directories: [tree.root.digest, ...below.map(({ digest }) => digest)],
    longestPath,
    levelsAbove,
    isPlain: areAllPlain,
  };
}
