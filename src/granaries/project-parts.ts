import type { OutputTrees } from "#actions/output-trees.ts";
import type { BlobStore } from "#cas/blob-store.ts";

/** Returns the blobs of a project: a blob counts only if this project has it. */
export type BlobsOf = (project: string) => BlobStore;

/** The output directories of results, as a project has them. */
export type TreesOf = (project: string) => OutputTrees;
