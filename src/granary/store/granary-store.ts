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
  /** Of what is alive: the limit is one of these. */
  readonly bytes: number;
  /** With what packs hold that is dead: as much again, and a segment of 64 MiB or more. */
  readonly diskBytes: number;
  readonly limitBytes: number;
}

export interface Trimmed {
  /** Of what was alive. */
  readonly removedBytes: number;
  /** Of the disk's. */
  readonly freedBytes: number;
}

/**
 * What this machine has: results and blobs, shared by all workspaces. Bounded; trimmed by use; whole after any crash.
 *
 * A result is kept after its blobs, and forgotten before them: who finds one finds its blobs, or takes it for a miss.
 */
export interface GranaryStore extends Service {
  /** Checked when it is read where the disk is not trusted: a rotten blob is removed, and is none. */
  readonly blobs: DiskBlobStore;
  /** Undefined also when a blob of it is gone; it is then forgotten. Counts as use. */
  find(project: string, key: ResultKey): Promise<GranaryResult | undefined>;
  /** Whether a result of that name was kept; a look at memory, for planning. */
  has(project: string, key: ResultKey): boolean;
  /** Whether the blob was here at the last look; a look at memory, for planning. */
  hasBlob(digest: Digest): boolean;
  /** Replaces one of the same name. Its blobs are here already. */
  keep(result: GranaryResult): Promise<void>;
  /** Sees to it that a blob that is here is the file that `blobs.path` says; false when it is not here. */
  asFile(digest: Digest): Promise<boolean>;
  forget(project: string, key: ResultKey): Promise<void>;
  /** What was forgotten before stays so after a power cut. Throws where the disk does not take that. */
  sync(): Promise<void>;
  usage(): Promise<GranaryUsage>;
  /** Undefined: the disk took all that it was given so far. What is here is read all the same. */
  diskTrouble(): DiskTrouble | undefined;
  /** Removes what was used least lately, down to the limit; never what `isHeld` says is on its way out. */
  trim(compacting?: Compacting): Promise<Trimmed>;
}
