import type { Digest } from "#core/digest.ts";
import type { ResultKey } from "./result-key.ts";

/** A result that a build requested, hit or not, and will probably request again. */
export interface IndexEntry extends ResultKey {
  /** Its blobs that were requested, its value first; never empty. */
  readonly blobs: readonly Digest[];
  /** From the build's start until the first request, in milliseconds. */
  readonly firstMs: number;
  /** How long making it took; undefined when unknown, which means neither nothing nor much. */
  readonly savedMs: number | undefined;
  /** Paths of the repository that it was made of: files, or directories ending in "/". Undefined when its tool does not say. */
  readonly inputs: readonly string[] | undefined;
}

/** An index as it is stored: additions to a base, and removals from it. */
export interface IndexDelta {
  readonly base: Digest | undefined;
  readonly entries: readonly IndexEntry[];
  readonly removed: readonly ResultKey[];
}
