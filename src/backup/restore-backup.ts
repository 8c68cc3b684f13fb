import { randomUUID } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join, resolve } from "node:path";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { diskFault } from "#cas/disk/disk-fault.ts";
import { diskLayout, modifiedAt } from "#cas/disk/disk-layout.ts";
import { writeStoreOwner } from "#cas/disk/store-owner.ts";
import { digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { startEmbeddedPostgres } from "#db/embedded/embedded-postgres.ts";
import { loadTables, migrationsOfDump, requireEmptyDatabase } from "#db/load-tables.ts";
import { migrate } from "#db/migrate.ts";
import { openPostgres } from "#db/postgres.ts";
import { takeLock } from "#machine/holder-lock.ts";
import { makeDirectory, makePrivateDirectory } from "#machine/make-directory.ts";
import { beginRestore, endRestore, isRestoreUnfinished } from "#machine/unfinished-restore.ts";
import { writeDurably } from "#machine/write-durably.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import { insertBackup } from "./backup.store.ts";
import { type ListedBlob, readBlobList } from "./blob-list.ts";
import { requireIntact } from "./checked-file.ts";
import { checkBlob, copyBlob } from "./copy-blob.ts";
import {
  type BackupLayout,
  backupLayout,
  isBackupName,
  type OneBackup,
  oneBackup,
  secretFiles,
} from "./layout.ts";
import { type Manifest, readManifest } from "./manifest.ts";

/** Selects a backup of a directory. */
interface ChosenBackup {
  readonly directory: string;
  /** The newest complete one when absent. */
  readonly name: string | undefined;
}

interface RestoreRequest extends ChosenBackup {
  /** The data directory to fill: new or empty. */
  readonly dataDir: string;
  /** The store of blobs when it is not in the data directory: new or empty. */
  readonly blobs: string | undefined;
  /** An empty database; the embedded PostgreSQL of the data directory when absent. */
  readonly databaseUrl: string | undefined;
  /** Whether to restore although blobs of the backup are missing or damaged; these are then left out. */
  readonly skipDamaged: boolean;
}

/** The current step of a restore or a check. */
export type RestoreStep =
  | { readonly kind: "checking"; readonly files: number; readonly of: number }
  | { readonly kind: "blobs"; readonly blobs: number; readonly of: number; readonly bytes: number }
  | { readonly kind: "database"; readonly tables: number; readonly of: number };

interface CheckedBackup {
  readonly name: string;
  readonly manifest: Manifest;
  /** Blobs that are missing from the backup, or whose bytes do not match their digest. */
  readonly damaged: readonly string[];
}

const atOnce = 8;
const listedAtOnce = 256;
/** The highest number of damaged blobs that a message names. */
const mostNamed = 10;

/**
 * Reads a whole backup and compares it with its manifest; changes nothing.
 *
 * @throws Fault `data_loss` when anything but a blob is damaged, `not_found` when there is no complete backup
 */
export async function checkBackup(
  chosen: ChosenBackup,
  onStep: (step: RestoreStep) => void,
  signal: AbortSignal,
): Promise<CheckedBackup> {
  const layout = backupLayout(resolve(chosen.directory));
  const { backup, manifest } = await findComplete(layout, chosen.name);
  await checkFiles(backup, manifest, onStep);
  const damaged = await eachBlob(backup, manifest, onStep, signal, async ({ digest }) => {
    return (await checkBlob(digest, layout.blob(digest))) === "right";
  });
  return { name: backup.name, manifest, damaged };
}

/**
 * Makes a farm from a backup: blobs first, then the keys, then the database in one transaction.
 *
 * Until the end, a file in the data directory marks it as unfinished, and no server starts there. The same command may
 * be repeated; it then resumes.
 *
 * @throws Fault `failed_precondition` when a farm already exists, or the backup is of a newer version; `data_loss` when
 * the backup is damaged, with the names of the damaged parts
 */
export async function restoreBackup(
  request: RestoreRequest,
  onStep: (step: RestoreStep) => void,
  signal: AbortSignal,
): Promise<CheckedBackup> {
  const layout = backupLayout(resolve(request.directory));
  const dataDir = resolve(request.dataDir);
  const { backup, manifest } = await findComplete(layout, request.name);
  const store = resolve(request.blobs ?? join(dataDir, "blobs"));
  await migrationsOfDump(manifest.schema);
  requireNoFarm(dataDir, store);
  if (request.databaseUrl !== undefined) await requireEmptyDatabase(request.databaseUrl);
  await checkFiles(backup, manifest, onStep);

  makeDirectory(dataDir, 0o700);
  const taken = await takeLock(join(dataDir, "server.lock"), "grange restore");
  if ("holder" in taken) {
    throw new Fault(
      "failed_precondition",
      `another Grange process (${taken.holder.where}) works in ${dataDir}; stop it first`,
    );
  }
  try {
    requireNoFarm(dataDir, store);
    await beginRestore(dataDir);
    const damaged = await restoreBlobs(layout, backup, manifest, store, onStep, signal);
    if (damaged.length > 0 && !request.skipDamaged) {
      throw new Fault(
        "data_loss",
        `${damaged.length} of ${manifest.blobs.count} blobs of the backup are missing or damaged: ` +
          `${damaged.slice(0, mostNamed).join(", ")}${damaged.length > mostNamed ? ", …" : ""}. ` +
          "Restore an earlier backup with --backup, or run the command again with --skip-damaged: the farm then makes " +
          "what is missing again when it is needed",
      );
    }
    for (const { name } of manifest.secretFiles) {
      await writeDurably(join(dataDir, name), await readFile(join(backup.files, name)));
    }
    await restoreDatabase(backup, manifest, { ...request, dataDir }, onStep);
    await endRestore(dataDir);
    return { name: backup.name, manifest, damaged };
  } catch (reason) {
    throw diskFault(reason, dataDir);
  } finally {
    await taken.lock.release();
  }
}

/** Returns the named backup, or the newest complete one. */
async function findComplete(
  layout: BackupLayout,
  name: string | undefined,
): Promise<{ readonly backup: OneBackup; readonly manifest: Manifest }> {
  const names = (await readdir(layout.backups).catch(() => [])).filter(isBackupName).toSorted();
  if (names.length === 0) {
    throw new Fault("not_found", `there are no backups in ${layout.directory}`);
  }
  if (name !== undefined) {
    if (!names.includes(name)) {
      throw new Fault(
        "not_found",
        `there is no backup ${name}; the backups are ${names.join(", ")}`,
      );
    }
    const backup = oneBackup(layout, name);
    const manifest = await readManifest(backup.manifest);
    if (manifest !== undefined) return { backup, manifest };
    throw new Fault("failed_precondition", `the backup ${name} is incomplete: it was interrupted`);
  }
  for (const each of names.toReversed()) {
    const backup = oneBackup(layout, each);
    const manifest = await readManifest(backup.manifest);
    if (manifest !== undefined) return { backup, manifest };
  }
  throw new Fault(
    "not_found",
    `there is no complete backup in ${layout.directory}: each of ${names.length} was interrupted`,
  );
}

/** Checks all files except the blobs: a farm can work without some blobs. */
async function checkFiles(
  backup: OneBackup,
  manifest: Manifest,
  onStep: (step: RestoreStep) => void,
): Promise<void> {
  const files = [
    { path: backup.blobList, file: manifest.blobs.list },
    ...manifest.tables.map(({ name, file }) => ({ path: backup.table(name), file })),
    ...manifest.secretFiles.map(({ name, file }) => ({ path: join(backup.files, name), file })),
  ];
  for (const [index, { path, file }] of files.entries()) {
    await requireIntact(path, file);
    onStep({ kind: "checking", files: index + 1, of: files.length });
  }
}

async function restoreBlobs(
  layout: BackupLayout,
  backup: OneBackup,
  manifest: Manifest,
  store: string,
  onStep: (step: RestoreStep) => void,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { temp } = diskLayout(store);
  makePrivateDirectory(store);
  if (manifest.storeOwner !== null) await writeStoreOwner(store, manifest.storeOwner);
  await mkdir(temp, { recursive: true });
  return eachBlob(backup, manifest, onStep, signal, async ({ namespace, digest, lastUsedAt }) => {
    const to = diskLayout(join(store, namespace)).path(digest);
    const outcome = await copyBlob(digest, layout.blob(digest), to, temp, {
      mode: 0o444,
      times: { accessed: lastUsedAt, modified: modifiedAt },
    });
    return outcome === "copied" || outcome === "present";
  });
}

/** Calls a function for each blob of a backup; returns the names of the blobs for which it failed. */
async function eachBlob(
  backup: OneBackup,
  manifest: Manifest,
  onStep: (step: RestoreStep) => void,
  signal: AbortSignal,
  isRight: (blob: ListedBlob) => Promise<boolean>,
): Promise<readonly string[]> {
  const damaged: string[] = [];
  const of = manifest.blobs.count;
  let blobs = 0;
  let bytes = 0;
  let some: ListedBlob[] = [];
  const flush = async () => {
    signal.throwIfAborted();
    await mapAtMost(atOnce, some, async (blob) => {
      if (!(await isRight(blob))) damaged.push(digestKey(blob.digest));
      blobs++;
      bytes += blob.digest.sizeBytes;
    });
    some = [];
    onStep({ kind: "blobs", blobs, of, bytes });
  };
  for await (const blob of readBlobList(backup.blobList)) {
    some.push(blob);
    if (some.length >= listedAtOnce) await flush();
  }
  await flush();
  if (blobs === of) return damaged.toSorted();
  throw new Fault("data_loss", `the backup is damaged: its list has ${blobs} blobs and not ${of}`);
}

async function restoreDatabase(
  backup: OneBackup,
  manifest: Manifest,
  request: RestoreRequest,
  onStep: (step: RestoreStep) => void,
): Promise<void> {
  const { dataDir, databaseUrl } = request;
  // An earlier attempt left it in this directory; the caller has checked that the attempt is unfinished.
  if (databaseUrl === undefined)
    await rm(join(dataDir, "pgdata"), { recursive: true, force: true });
  const embedded = databaseUrl === undefined ? await startEmbeddedPostgres({ dataDir }) : undefined;
  try {
    const url = embedded?.url ?? databaseUrl ?? "";
    let tables = 0;
    await loadTables(
      url,
      manifest.schema,
      manifest.tables,
      (table) => {
        const rows = createGunzip();
        // The reader of the rows throws its errors.
        pipeline(createReadStream(backup.table(table)), rows, () => {});
        return rows;
      },
      () => onStep({ kind: "database", tables: ++tables, of: manifest.tables.length }),
    );
    const db = openPostgres({ url, poolSize: 1, applicationName: "grange restore" });
    try {
      await migrate(db);
      const { blobs, startedAt, finishedAt } = manifest;
      await insertBackup(db, {
        id: randomUUID(),
        startedAt: new Date(startedAt),
        finishedAt: new Date(finishedAt),
        directory: dirname(dirname(backup.directory)),
        host: hostname(),
        databaseBytes: manifest.tables.reduce((sum, { file }) => sum + file.bytes, 0),
        blobs: blobs.count,
        blobBytes: blobs.bytes,
        copiedBytes: blobs.copiedBytes,
        damagedBlobs: blobs.damaged,
      });
    } finally {
      await db.close();
    }
  } finally {
    await embedded?.stop();
  }
}

/** Refuses a data directory that contains a farm, unless an earlier restore left it unfinished. */
function requireNoFarm(dataDir: string, store: string): void {
  if (isRestoreUnfinished(dataDir)) return;
  const marks = ["pgdata", ...secretFiles].map((name) => join(dataDir, name));
  const found = [...marks, diskLayout(store).blobs].filter((path) => existsSync(path));
  if (found.length === 0) return;
  throw new Fault(
    "failed_precondition",
    `there is already a farm: ${found.join(", ")}. Restore into a new directory, so that nothing is overwritten`,
  );
}
