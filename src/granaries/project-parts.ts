import type { OutputTrees } from "#actions/output-trees.ts";
import type { BlobStore } from "#cas/blob-store.ts";

/** The blobs of a project: what is told of one must be there, whatever other projects have. */
export type BlobsOf = (project: string) => BlobStore;

/** The output directories of results, as a project has them. */
export type TreesOf = (project: string) => OutputTrees;
