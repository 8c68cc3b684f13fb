import { join } from "node:path";
import { type Digest, hexOf } from "#core/digest.ts";

/**
 * The layout of a directory of backups:
 *
 *     blobs/2c/2cf24dba…          blobs of all backups, each once, named by its hash
 *     temp/…                      a blob that is being written; renamed when it is whole
 *     backups/2026-11-26T18-30-05.123Z/
 *       tables/graph.copy.gz      rows of one table, in PostgreSQL's text format of COPY
 *       blobs.gz                  which blobs the backup has, sorted by shard
 *       files/farm.key            keys and tokens of the data directory
 *       manifest.json             written last: a backup without it is incomplete and never restored
 *     backup.lock                 one backup at a time
 */
export interface BackupLayout {
  readonly directory: string;
  readonly lock: string;
  readonly temp: string;
  readonly blobs: string;
  /** The path of a shard in the pool of blobs. */
  readonly shard: (shard: string) => string;
  readonly blob: (digest: Digest) => string;
  readonly backups: string;
}

export function backupLayout(directory: string): BackupLayout {
  const blobs = join(directory, "blobs");
  const shard = (name: string) => join(blobs, name);
  return {
    directory,
    lock: join(directory, "backup.lock"),
    temp: join(directory, "temp"),
    blobs,
    shard,
    blob: (digest) => join(shard(shardOf(digest)), digest.hash),
    backups: join(directory, "backups"),
  };
}

/** The files of one backup. */
export interface OneBackup {
  /** The time of its beginning, so that names sort by age. */
  readonly name: string;
  readonly directory: string;
  readonly manifest: string;
  readonly tables: string;
  readonly table: (name: string) => string;
  readonly blobList: string;
  readonly files: string;
}

export function oneBackup(layout: BackupLayout, name: string): OneBackup {
  const directory = join(layout.backups, name);
  const tables = join(directory, "tables");
  return {
    name,
    directory,
    manifest: join(directory, "manifest.json"),
    tables,
    table: (table) => join(tables, `${table}.copy.gz`),
    blobList: join(directory, "blobs.gz"),
    files: join(directory, "files"),
  };
}

/** Some file systems do not allow colons in file names. */
export function backupName(startedAt: Date): string {
  return startedAt.toISOString().replaceAll(":", "-");
}

/** Returns whether a name was made by `backupName`: nothing else in the directory may be removed. */
export function isBackupName(name: string): boolean {
  return /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}\.\d{3}Z$/.test(name);
}

/** Returns two hex digits; the store itself divides its blobs in the same way. */
export function shardOf(digest: Digest): string {
  return hexOf(digest).slice(0, 2);
}

/** Files with keys and tokens in a data directory. A farm may have some of them elsewhere, or none. */
export const secretFiles = ["farm.key", "secrets.key", "owner-token", "worker-token"] as const;
