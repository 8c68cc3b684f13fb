import type { BlobStore } from "#cas/blob-store.ts";
import { contentsKept, type OutputTrees, outputTrees } from "./output-trees.ts";
import type { ResultSeals } from "./result-seals.ts";

/** Returns the output trees of each project. The projects share one cache. */
export function projectTrees(
  blobsOf: (project: string) => BlobStore,
  seals: ResultSeals,
): (project: string) => OutputTrees {
  const contents = contentsKept();
  // A project's blob store is replaced when it gets its first blobs, and stays the same from then on.
  const known = new WeakMap<BlobStore, OutputTrees>();
  return (project) => {
    const blobs = blobsOf(project);
    const trees = known.get(blobs) ?? outputTrees(blobs, seals, contents, `${project} `);
    known.set(blobs, trees);
    return trees;
  };
}
