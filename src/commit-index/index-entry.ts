import type { Digest } from "#core/digest.ts";
import type { ResultKey } from "./result-key.ts";

/**
 * A result that a build requested, as a hit or a miss, and that later builds will probably request.
 */
export interface IndexEntry extends ResultKey {
  /** Its requested blobs, its value first; never empty. */
  readonly blobs: readonly Digest[];
  /** From the build's start until the first request, in milliseconds. */
  readonly firstMs: number;
  /** The time that making it took; undefined when unknown, which implies neither a short nor a long time. */
  readonly savedMs: number | undefined;
  /**
   * The paths of its inputs in the repository: files, or directories ending in "/". Undefined when its tool does not
   * report them.
   */
  readonly inputs: readonly string[] | undefined;
}

/** An index as it is stored: additions to a base, and removals from it. */
export interface IndexDelta {
  readonly base: Digest | undefined;
  readonly entries: readonly IndexEntry[];
  readonly removed: readonly ResultKey[];
}
