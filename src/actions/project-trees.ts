import type { BlobStore } from "#cas/blob-store.ts";
import { contentsKept, type OutputTrees, outputTrees } from "./output-trees.ts";
import type { ResultSeals } from "./result-seals.ts";

/** Returns the output directories of results for each project. The projects share one cache. */
export function projectTrees(
  blobsOf: (project: string) => BlobStore,
  seals: ResultSeals,
): (project: string) => OutputTrees {
  const contents = contentsKept();
  // A project's blobs are another object once it has some, and the same from then on.
  const known = new WeakMap<BlobStore, OutputTrees>();
  return (project) => {
    const blobs = blobsOf(project);
    const trees = known.get(blobs) ?? outputTrees(blobs, seals, contents, `${project} `);
    known.set(blobs, trees);
    return trees;
  };
}
