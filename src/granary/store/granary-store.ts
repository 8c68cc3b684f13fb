import type { DiskBlobStore } from "#cas/disk/disk-blob-store.ts";
import type { ResultKey } from "#commit-index/result-key.ts";
import type { Digest } from "#core/digest.ts";
import type { Service } from "#core/service.ts";
import type { GranaryResult } from "../granary-result.ts";
import type { Compacting } from "./choose-to-compact.ts";
import type { DiskTrouble } from "./disk-trouble.ts";

export interface GranaryUsage {
  readonly results: number;
  readonly blobs: number;
  /** The bytes of live data: the limit is compared with these. */
  readonly bytes: number;
  /**
   * The bytes on disk including dead data in packs, which may be as much again, plus a segment of
   * 64 MiB or more.
   */
  readonly diskBytes: number;
  readonly limitBytes: number;
}

export interface Trimmed {
  /** The removed bytes of live data. */
  readonly removedBytes: number;
  /** The bytes that were freed on the disk. */
  readonly freedBytes: number;
}

/**
 * The results and blobs of this machine, shared by all workspaces. Bounded; trimmed by use; consistent after any crash.
 *
 * A result is stored after its blobs and removed before them, so a reader of a result finds its blobs, or treats it as
 * a miss.
 */
export interface GranaryStore extends Service {
  /** If the disk is not trusted, blobs are verified when they are read; a corrupt one is removed and counts as missing. */
  readonly blobs: DiskBlobStore;
  /**
   * Returns undefined also when a blob of the result is missing; the result is then removed. A call
   * counts as use.
   */
  find(project: string, key: ResultKey): Promise<GranaryResult | undefined>;
  /** Returns whether a result of that name was stored, from memory only, for planning. */
  has(project: string, key: ResultKey): boolean;
  /** Returns whether the blob existed at the last check, from memory only, for planning. */
  hasBlob(digest: Digest): boolean;
  /** Stores a result and replaces one of the same name. Its blobs must be present. */
  keep(result: GranaryResult): Promise<void>;
  /** Makes a present blob a file at `blobs.path`; returns false when it is absent. */
  asFile(digest: Digest): Promise<boolean>;
  forget(project: string, key: ResultKey): Promise<void>;
  /** Makes earlier removals durable. Throws when the disk fails. */
  sync(): Promise<void>;
  usage(): Promise<GranaryUsage>;
  /** Undefined: the disk has accepted everything so far. Present data can be read in any case. */
  diskTrouble(): DiskTrouble | undefined;
  /** Removes the least recently used data down to the limit; never what `isHeld` protects for sending. */
  trim(compacting?: Compacting): Promise<Trimmed>;
}
