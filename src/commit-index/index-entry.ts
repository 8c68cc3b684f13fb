import type { Digest } from "#core/digest.ts";
import type { ResultKey } from "./result-key.ts";

/** What a build asked for, hit or not, and is likely to ask for again. */
export interface IndexEntry extends ResultKey {
  /** The blobs of it that were asked for, its value first; never empty. */
  readonly blobs: readonly Digest[];
  /** From the build's start until it was first asked for, in milliseconds. */
  readonly firstMs: number;
  /** What making it took; undefined when nobody knows, which is neither nothing nor much. */
  readonly savedMs: number | undefined;
  /** Paths of the repository that it was made of: files, or directories ending in "/". Undefined when its tool does not say. */
  readonly inputs: readonly string[] | undefined;
}

/** An index as it is stored: what is added to a base, and taken from it. */
export interface IndexDelta {
  readonly base: Digest | undefined;
  readonly entries: readonly IndexEntry[];
  readonly removed: readonly ResultKey[];
}
