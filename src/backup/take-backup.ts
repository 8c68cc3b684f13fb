import { randomUUID } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { mkdir, readFile, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join, relative, resolve } from "node:path";
import { diskFault } from "#cas/disk/disk-fault.ts";
import { readStoreOwner } from "#cas/disk/store-owner.ts";
import { removeLeftovers } from "#cas/temp-file.ts";
import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import { dumpTables } from "#db/dump-tables.ts";
import { openPostgres } from "#db/postgres.ts";
import type { DumpedSchema, DumpedTable } from "#db/table-copy.ts";
import { type HeldLock, takeLock } from "#machine/holder-lock.ts";
import { makeDirectory } from "#machine/make-directory.ts";
import { secretFilesOf } from "#machine/secret-files.ts";
import { syncDirectory, writeDurably } from "#machine/write-durably.ts";
import { type BlobProgress, backUpBlobs } from "./back-up-blobs.ts";
import { forgetBackups, insertBackup } from "./backup.store.ts";
import { fileOfBytes, writeCompressed } from "./checked-file.ts";
import { holdEviction } from "./hold-eviction.ts";
import {
  type BackupLayout,
  backupLayout,
  backupName,
  type OneBackup,
  oneBackup,
  secretFiles,
} from "./layout.ts";
import { backupFormat, type CheckedFile, type Manifest, writeManifest } from "./manifest.ts";
import { openFarmDatabase } from "./open-farm-database.ts";
import { type Removed, removeOldBackups } from "./remove-old-backups.ts";

interface BackupRequest {
  /** The directory of backups; created when it is missing. */
  readonly directory: string;
  /** The farm's data directory. */
  readonly dataDir: string;
  /** The store of blobs when it is not in the data directory. */
  readonly blobs: string | undefined;
  /**
   * The id of the database's farm, which is also recorded in the store of blobs; undefined before a server has started.
   */
  readonly farmOf: (db: Db) => Promise<string | undefined>;
  /** The farm's database when it is not the embedded one. */
  readonly databaseUrl: string | undefined;
  /** How many complete backups the directory keeps, including this one; at least 1. */
  readonly keep: number;
  /** Key files outside the data directory: `farm.key` and `secrets.key` by their settings. */
  readonly keyFiles: {
    readonly farmKey: string | undefined;
    readonly secretsKey: string | undefined;
  };
  readonly grangeVersion: string;
}

/** The current step of a backup. */
export type BackupStep =
  | {
      readonly kind: "database";
      readonly tables: number;
      readonly of: number;
      readonly bytes: number;
    }
  | ({ readonly kind: "blobs" } & BlobProgress)
  | { readonly kind: "removing old backups" };

export interface TakenBackup {
  readonly name: string;
  readonly directory: string;
  readonly manifest: Manifest;
  readonly databaseBytes: number;
  readonly removed: Removed;
}

/** The number of records of backups in the database. */
const recordsKept = 100;

/**
 * Backs a farm up while it runs.
 *
 * The order makes it consistent: eviction is paused, the database is read in one snapshot, then the blobs are copied,
 * so each blob that a row refers to exists. The manifest is written last.
 *
 * @throws Fault `failed_precondition` when another backup of the farm, or into the directory, is running
 */
export async function takeBackup(
  request: BackupRequest,
  onStep: (step: BackupStep) => void,
  signal: AbortSignal,
): Promise<TakenBackup> {
  const dataDir = resolve(request.dataDir);
  const layout = backupLayout(resolve(request.directory));
  requireApart(layout.directory, dataDir);
  const lock = await openDirectory(layout);
  try {
    const database = await openFarmDatabase(dataDir, request.databaseUrl);
    try {
      const store = resolve(request.blobs ?? join(dataDir, "blobs"));
      requireApart(layout.directory, store);
      await requireStoreOfFarm(store, database.url, request);
      return await takeInto(layout, { ...request, dataDir, store }, database.url, onStep, signal);
    } finally {
      await database.stop();
    }
  } catch (reason) {
    throw diskFault(reason, layout.directory);
  } finally {
    await lock.release();
  }
}

type PlacedRequest = BackupRequest & { readonly store: string };

async function takeInto(
  layout: BackupLayout,
  request: PlacedRequest,
  url: string,
  onStep: (step: BackupStep) => void,
  signal: AbortSignal,
): Promise<TakenBackup> {
  const { store } = request;
  const startedAt = new Date();
  const backup = oneBackup(layout, backupName(startedAt));
  const eviction = await holdEviction(store, signal);
  try {
    for (const directory of [backup.directory, backup.tables, backup.files])
      await mkdir(directory, { mode: 0o700 });
    const files = new Map<string, CheckedFile>();
    let of = 0;
    let databaseBytes = 0;
    const keepRows = async (table: string, rows: Parameters<typeof writeCompressed>[1]) => {
      signal.throwIfAborted();
      const file = await writeCompressed(backup.table(table), rows);
      files.set(table, file);
      databaseBytes += file.bytes;
      onStep({ kind: "database", tables: files.size, of, bytes: databaseBytes });
    };
    const manifest = await dumpTables(
      url,
      keepRows,
      (tables) => {
        of = tables;
      },
      (schema, tables) =>
        completed(
          layout,
          backup,
          request,
          { startedAt, schema, tables, files, eviction },
          onStep,
          signal,
        ),
    );
    await recordBackup(url, backup, layout, manifest, databaseBytes);
    onStep({ kind: "removing old backups" });
    const removed = await removeOldBackups(layout, request.keep);
    return { name: backup.name, directory: layout.directory, manifest, databaseBytes, removed };
  } catch (reason) {
    // A backup with a manifest is complete.
    if (!existsSync(backup.manifest)) await rm(backup.directory, { recursive: true, force: true });
    throw reason;
  } finally {
    await eviction.release();
  }
}

/** Copies everything outside the database, and writes the manifest. */
async function completed(
  layout: BackupLayout,
  backup: OneBackup,
  request: PlacedRequest,
  dumped: {
    readonly startedAt: Date;
    readonly schema: DumpedSchema;
    readonly tables: readonly DumpedTable[];
    readonly files: ReadonlyMap<string, CheckedFile>;
    /** The lock that pauses eviction. */
    readonly eviction: HeldLock;
  },
  onStep: (step: BackupStep) => void,
  signal: AbortSignal,
): Promise<Manifest> {
  const { startedAt, schema, tables, files, eviction } = dumped;
  const blobs = await backUpBlobs(
    request.store,
    layout,
    backup,
    (progress) => onStep({ kind: "blobs", ...progress }),
    signal,
  );
  const kept = await backUpSecretFiles(backup, request);
  const manifest: Manifest = {
    format: backupFormat,
    grangeVersion: request.grangeVersion,
    startedAt: startedAt.toISOString(),
    finishedAt: new Date().toISOString(),
    schema,
    tables: tables.map((table) => {
      const file = files.get(table.name);
      if (file === undefined) throw new Error(`the table ${table.name} was not kept`);
      return { ...table, file };
    }),
    blobs,
    storeOwner: (await readStoreOwner(request.store)) ?? null,
    secretFiles: kept,
    filesElsewhere: secretFilesOf(request.dataDir).filter(
      (path) => !Object.values(request.keyFiles).includes(path),
    ),
  };
  // Names in directories become durable before the manifest that relies on them.
  for (const directory of [
    backup.tables,
    backup.files,
    backup.directory,
    layout.backups,
    layout.blobs,
  ])
    await syncDirectory(directory);
  // A suspended process, or one whose disk did not respond, may have been taken for dead.
  if (!(await eviction.isHeld()))
    throw new Fault(
      "unavailable",
      "the store may have evicted blobs before they were copied, because this backup process was stopped for a time; run the backup again",
    );
  await writeManifest(backup.manifest, manifest);
  return manifest;
}

async function backUpSecretFiles(
  backup: OneBackup,
  { dataDir, keyFiles }: BackupRequest,
): Promise<Manifest["secretFiles"]> {
  const kept: { name: Manifest["secretFiles"][number]["name"]; file: CheckedFile }[] = [];
  const named = { "farm.key": keyFiles.farmKey, "secrets.key": keyFiles.secretsKey };
  for (const name of secretFiles) {
    const elsewhere = name in named ? named[name as keyof typeof named] : undefined;
    const from = elsewhere ?? join(dataDir, name);
    const bytes = await readFile(from).catch((reason: unknown) => {
      if ((reason as NodeJS.ErrnoException).code === "ENOENT" && elsewhere === undefined)
        return undefined;
      throw Fault.from(reason, `reading ${from}`);
    });
    if (bytes === undefined) continue;
    await writeDurably(join(backup.files, name), bytes);
    kept.push({ name, file: fileOfBytes(bytes) });
  }
  return kept;
}

/** A backup of the wrong directory of blobs would only be noticed at its restore. */
async function requireStoreOfFarm(
  store: string,
  url: string,
  { farmOf }: BackupRequest,
): Promise<void> {
  const db = openPostgres({ url, poolSize: 1, applicationName: "grange backup" });
  try {
    const farm = await farmOf(db);
    const owner = existsSync(store) ? await readStoreOwner(store) : undefined;
    if (farm !== undefined && farm === owner) return;
  } finally {
    await db.close();
  }
  throw new Fault(
    "failed_precondition",
    `${store} does not hold the blobs of the database's farm. Name their directory with --blobs or GRANGE_BLOBS; ` +
      "if no server of this version has worked with them yet, start one first",
  );
}

/** Records the backup for `grange doctor` and /metrics. */
async function recordBackup(
  url: string,
  backup: OneBackup,
  layout: BackupLayout,
  manifest: Manifest,
  databaseBytes: number,
): Promise<void> {
  const db = openPostgres({ url, poolSize: 1, applicationName: "grange backup" });
  try {
    await db.transaction(async (tx) => {
      await insertBackup(tx, {
        id: randomUUID(),
        startedAt: new Date(manifest.startedAt),
        finishedAt: new Date(manifest.finishedAt),
        directory: layout.directory,
        host: hostname(),
        databaseBytes,
        blobs: manifest.blobs.count,
        blobBytes: manifest.blobs.bytes,
        copiedBytes: manifest.blobs.copiedBytes,
        damagedBlobs: manifest.blobs.damaged,
      });
      await forgetBackups(tx, recordsKept);
    });
  } catch (reason) {
    throw Fault.from(
      reason,
      `the backup ${backup.directory} is complete, but could not be recorded in the database`,
    );
  } finally {
    await db.close();
  }
}

async function openDirectory(layout: BackupLayout): Promise<HeldLock> {
  makeDirectory(layout.directory, 0o700);
  for (const each of [layout.temp, layout.blobs, layout.backups]) makeDirectory(each, 0o700);
  const taken = await takeLock(layout.lock, "grange backup");
  if ("holder" in taken) {
    const { where, since } = taken.holder;
    throw new Fault(
      "failed_precondition",
      `another backup or restore (${where}) has used ${layout.directory} since ${since}; wait until it has ended`,
    );
  }
  await removeLeftovers(layout.temp);
  return taken.lock;
}

/** Deleting one of the two directories must not delete a part of the other. */
function requireApart(directory: string, dataDir: string): void {
  const isWithin = (inner: string, outer: string) => !relative(outer, inner).startsWith("..");
  const real = (path: string) => (existsSync(path) ? realpathSync(path) : path);
  const [a, b] = [real(directory), real(dataDir)];
  if (!isWithin(a, b) && !isWithin(b, a)) return;
  throw new Fault(
    "invalid_argument",
    `the directory of the backup must not be inside the data directory or contain it (${directory}, ${dataDir}); choose another directory, best on another disk`,
  );
}
