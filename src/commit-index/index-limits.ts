/**
 * The limits of an index. dune's own sources are 3,240 results, a Bazel workspace of a large company some
 * 100,000; 64 MiB are 200,000 entries of three blobs each.
 */
export const indexLimits = {
  entries: 200_000,
  bytes: 64 * 1024 * 1024,
  /** Blobs, keys and paths in all: each is an object once it is decoded. */
  parts: 1_000_000,
  keyLength: 1_024,
  blobsOfEntry: 64,
  inputsOfEntry: 256,
  pathLength: 1_024,
  /** For a build: its commit and first parents. So many commits change most of its requests. */
  commits: 64,
  /** An index and its bases: each is a blob to be read, one after the other. */
  chain: 8,
} as const;
