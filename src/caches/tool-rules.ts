import type { CacheTool } from "#api/tool-cache.ts";
import type { Digest } from "#core/digest.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { SignedArtifact } from "./turborepo-signature.ts";

/** A request for a tool's rules: only its form was checked. */
export interface CacheRequest {
  readonly method: string;
  /** The path as received, for responses that repeat it. */
  readonly rawPath: string;
  /** The segments after the tool's name; each is a plain file name. */
  readonly path: readonly string[];
  /** Whether the path ends in a slash, or is empty. */
  readonly isFolder: boolean;
  readonly query: URLSearchParams;
  header(name: string): string | undefined;
}

export interface EntryName {
  readonly project: string;
  readonly tool: CacheTool;
  readonly key: string;
}

/** An entry to look for: by its name, in the domains that `reader` may read. */
export interface EntryQuery extends EntryName {
  readonly reader: TrustDomain;
}

/** Headers that a tool wants back with the bytes, by name. */
export type Attributes = Readonly<Record<string, string>>;

/** The metadata of an entry. Its blob may be missing. */
export interface CacheEntry extends EntryName {
  /** The domain of its writer. Entries of one name in several domains are independent of each other. */
  readonly domain: TrustDomain;
  readonly digest: Digest;
  readonly attributes: Attributes;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
}

export interface NewCacheEntry extends EntryName {
  readonly domain: TrustDomain;
  readonly digest: Digest;
  readonly attributes: Attributes;
  readonly principal: string;
}

/** The meaning of a request. */
export type Lookup =
  | { readonly kind: "read"; readonly key: string }
  /** When a key is written twice, `replace` keeps the last value and `refuse` the first. */
  | {
      readonly kind: "write";
      readonly key: string;
      readonly attributes: Attributes;
      readonly again: "replace" | "refuse";
      /** What the client signed, if the tool signs: verified where the project has a key. */
      readonly signed?: SignedArtifact;
    }
  | { readonly kind: "remove"; readonly key: string }
  /** A blob of the store that all build tools share, by the SHA-256 of its bytes. */
  | { readonly kind: "read-blob"; readonly hash: string }
  | { readonly kind: "write-blob"; readonly hash: string }
  /** An REv2 ActionResult, or other bytes that were stored in its place. */
  | { readonly kind: "read-action-result"; readonly key: string; readonly hash: string }
  /** Checks entries without reading them. The body names them. */
  | {
      readonly kind: "look";
      readonly keysIn: (body: Uint8Array) => readonly string[];
      readonly tell: (found: ReadonlyMap<string, CacheEntry>) => Answer;
    }
  | { readonly kind: "answer"; readonly answer: Answer };

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A refused request, with the reason; a miss is one with status 404. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** The cache protocol of one tool, as pure functions. */
export interface ToolRules {
  /** Throws `invalid_argument` for requests that do not belong to this tool. */
  lookupOf(request: CacheRequest): Lookup;
  /** Returns the headers of a hit. */
  hitHeaders(attributes: Attributes): Readonly<Record<string, string>>;
  written(key: string): Answer;
  removed(existed: boolean): Answer;
  refused(refusal: Refusal, method: string): Answer;
  /**
   * Whether an incomplete response makes the tool fail the user's build. All bytes are then verified before the first
   * is sent, and a body is read completely before it is refused.
   */
  readonly isFragile: boolean;
}
