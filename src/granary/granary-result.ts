import type { ResultKey } from "#commit-index/result-key.ts";
import type { Digest } from "#core/digest.ts";

/** A result as a granary keeps it, of any tool. */
export interface GranaryResult extends ResultKey {
  readonly project: string;
  /** For `reapi` the ActionResult message; for all others the bytes that the tool gets. */
  readonly value: Digest;
  /** Attributes that are returned to the tool with the bytes, by the header's name. */
  readonly attributes: Readonly<Record<string, string>>;
  /** All blobs that it names, besides its value. */
  readonly blobs: readonly Digest[];
  /** How long making it took, in milliseconds; undefined when unknown. */
  readonly costMs: number | undefined;
}
