import { fetchTree } from "#actions/output-tree.ts";
import type { TreeListing } from "#api/tree-listing.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { flattenTree } from "#cas/tree-message.ts";
import { type Digest, digestKey, functionOf } from "#core/digest.ts";

/** The maximum number of lines in a page; nobody reads more. */
const mostEntries = 2_000;

/** Returns the content of an output directory; undefined when its Tree is not in the store. */
export async function listTree(blobs: BlobStore, digest: Digest): Promise<TreeListing | undefined> {
  const tree = await fetchTree(blobs, digest);
  if (tree === undefined) return undefined;
  const entries = await flattenTree(tree, functionOf(digest), "anywhere");
  return {
    count: entries.length,
    entries: entries.slice(0, mostEntries).map((entry) => {
      const { path } = entry;
      switch (entry.kind) {
        case "file": {
          const { digest: file, executable } = entry;
          const { sizeBytes } = file;
          return { kind: "file", path, blob: digestKey(file), sizeBytes, executable };
        }
        case "directory":
          return { kind: "directory", path };
        case "symlink":
          return { kind: "symlink", path, target: entry.target };
      }
    }),
  };
}
