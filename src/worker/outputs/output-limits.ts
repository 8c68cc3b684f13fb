/**
 * The limits for the outputs of a job. A file counts as the larger of its length and its blocks on the disk: a sparse
 * file has few blocks, but its whole length is uploaded and stored.
 */
export interface OutputLimits {
  /** The number of files, links and directories in all outputs. */
  readonly maxEntries: number;
  /** For one declared output: a file, or a directory with its whole subtree. */
  readonly maxBytesOfEach: number;
  readonly maxBytesOfAll: number;
}

const gibibyte = 1024 ** 3;

/** More than container images and packages of debug symbols usually need. */
export const defaultOutputLimits: OutputLimits = {
  maxEntries: 500_000,
  maxBytesOfEach: 8 * gibibyte,
  maxBytesOfAll: 16 * gibibyte,
};

/** Returns the limits of an action, which may reduce the worker's limits, but not raise them. */
export function outputLimitsWithin(
  ownBytes: number | undefined,
  worker: { readonly outputLimitBytes: number; readonly allOutputsLimitBytes: number },
): OutputLimits {
  const own = ownBytes ?? Number.POSITIVE_INFINITY;
  return {
    ...defaultOutputLimits,
    maxBytesOfEach: Math.min(own, worker.outputLimitBytes),
    maxBytesOfAll: Math.min(own, worker.allOutputsLimitBytes),
  };
}
