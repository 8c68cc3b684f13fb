/**
 * How much of a job's tree may become outputs. A file counts as the larger of its length and its blocks on
 * the disk: a sparse file has few blocks, but its length is uploaded and stored.
 */
export interface OutputLimits {
  /** Files, links and directories, of all outputs. */
  readonly maxEntries: number;
  /** For one declared output: a file, or a directory with everything below it. */
  readonly maxBytesOfEach: number;
  readonly maxBytesOfAll: number;
}

const gibibyte = 1024 ** 3;

/** Larger than container images and packages of debug symbols usually are. */
export const usualOutputLimits: OutputLimits = {
  maxEntries: 500_000,
  maxBytesOfEach: 8 * gibibyte,
  maxBytesOfAll: 16 * gibibyte,
};

/** Returns the limits of an action that may limit itself to less than the worker allows, never to more. */
export function outputLimitsWithin(
  ownBytes: number | undefined,
  worker: { readonly outputLimitBytes: number; readonly allOutputsLimitBytes: number },
): OutputLimits {
  const own = ownBytes ?? Number.POSITIVE_INFINITY;
  return {
    ...usualOutputLimits,
    maxBytesOfEach: Math.min(own, worker.outputLimitBytes),
    maxBytesOfAll: Math.min(own, worker.allOutputsLimitBytes),
  };
}
