/**
 * The limits of an index. dune's own sources give 3,240 results, a Bazel workspace of a large company some 100,000; 64
 * MiB are 200,000 entries of three blobs each.
 */
export const indexLimits = {
  entries: 200_000,
  bytes: 64 * 1024 * 1024,
  /** The total number of blobs, keys and paths: each becomes an object when it is decoded. */
  parts: 1_000_000,
  keyLength: 1_024,
  blobsOfEntry: 64,
  inputsOfEntry: 256,
  pathLength: 1_024,
  /** For a build: its commit and first parents. Over so many commits, most of its requests change. */
  commits: 64,
  /** An index and its bases: each is a blob, and they are read one after the other. */
  chain: 8,
} as const;
