import type { CacheTool } from "#api/tool-cache.ts";
import type { Digest } from "#core/digest.ts";

/** A request as a tool's rules see it: nothing of it has been believed but its form. */
export interface CacheRequest {
  readonly method: string;
  /** The path as it came, for answers that repeat it. */
  readonly rawPath: string;
  /** What follows the tool's name; each a plain file name. */
  readonly path: readonly string[];
  /** Whether the path ends in a slash, or names nothing. */
  readonly isFolder: boolean;
  readonly query: URLSearchParams;
  header(name: string): string | undefined;
}

export interface EntryName {
  readonly project: string;
  readonly tool: CacheTool;
  readonly key: string;
}

/** What a tool wants to hear again beside the bytes, by the header's name. */
export type Attributes = Readonly<Record<string, string>>;

/** What is known of an entry. Whether its blob is still there is another question. */
export interface CacheEntry extends EntryName {
  readonly digest: Digest;
  readonly attributes: Attributes;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
}

export interface NewCacheEntry extends EntryName {
  readonly digest: Digest;
  readonly attributes: Attributes;
  readonly principal: string;
}

/** What a request asks for. */
export type Lookup =
  | { readonly kind: "read"; readonly key: string }
  /** Of two that were written under one key, `replace` keeps the last, `refuse` the first. */
  | {
      readonly kind: "write";
      readonly key: string;
      readonly attributes: Attributes;
      readonly again: "replace" | "refuse";
    }
  | { readonly kind: "remove"; readonly key: string }
  /** A blob of the store all build tools share, by the SHA-256 of its bytes. */
  | { readonly kind: "read-blob"; readonly hash: string }
  | { readonly kind: "write-blob"; readonly hash: string }
  /** An REv2 ActionResult, or whatever bytes were put in its place. */
  | { readonly kind: "read-action-result"; readonly key: string; readonly hash: string }
  /** Entries are looked at, not read. The body says which. */
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

/** Why a request gets nothing; a miss is one, with 404. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** How one tool speaks to its cache. Pure: values in, values out. */
export interface ToolRules {
  /** Throws `invalid_argument` for what is not of this tool. */
  lookupOf(request: CacheRequest): Lookup;
  /** What a hit says beside its bytes. */
  hitHeaders(attributes: Attributes): Readonly<Record<string, string>>;
  written(key: string): Answer;
  removed(existed: boolean): Answer;
  refused(refusal: Refusal, method: string): Answer;
  /**
   * Whether the tool fails its user's build over an answer that breaks off. Bytes are then known to be
   * right before the first is sent, and a body is taken in before it is refused.
   */
  readonly isFragile: boolean;
}
