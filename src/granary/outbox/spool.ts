import { closeSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { diskFault, errnoOf } from "#cas/disk/disk-fault.ts";
import { coalescer } from "#core/coalescer.ts";

const spooledKinds = ["results", "index", "report"] as const;
export type SpooledKind = (typeof spooledKinds)[number];
/** The kinds that a client of the granary waits for. */
type AwaitedKind = Exclude<SpooledKind, "results">;

export interface SpoolFile {
  readonly path: string;
  readonly kind: SpooledKind;
  readonly items: number;
  readonly bytes: number;
}

/** The waiting data, as lines of files in their order; each file has one kind. */
export interface Spool {
  /** The oldest first. */
  files(): readonly SpoolFile[];
  /**
   * The result survives a crash of this process from now on, and a power failure a second later or after the next
   * `add`.
   */
  addResult(line: string): void;
  /** Durable once this resolves, with all results that came before. */
  add(kind: AwaitedKind, line: string): Promise<void>;
  /** Returns no lines when the disk cannot read the file. Throws for temporary errors. */
  lines(file: SpoolFile): Promise<string[]>;
  /** Reduces the file to some of its lines. Returns the new file. */
  keepOnly(file: SpoolFile, lines: readonly string[]): Promise<SpoolFile>;
  /** Removes the file and returns its lines. From the call on, the file is no longer listed. */
  remove(file: SpoolFile): Promise<string[]>;
  /** Resolves when nothing is being written. */
  idle(): Promise<void>;
  /** Ends additions; nothing can be added afterwards. */
  close(): Promise<void>;
}

interface Item {
  readonly kind: AwaitedKind;
  readonly line: string;
}

/** Results are appended until the file is sent or full. */
interface OpenFile extends SpoolFile {
  readonly handle: number;
  items: number;
  bytes: number;
}

/** The interval between two syncs. A power failure also loses the requests of a build in this time. */
const syncMs = 1_000;

const partSuffix = ".part";
const namePattern = /^(\d{12})-(results|index|report)\.jsonl$/;

/** One request to the farm contains one or two files. */
export const mostItemsAFile = 500;
const mostBytesAFile = 8 * 1024 * 1024;

/**
 * Opens the spool of a data directory.
 *
 * Results are lines at the end of an open file. Each is written at once by one call, and synced a second later: a tool
 * waits for each. Their blobs are not synced at all, because syncing each output of a build would cost more than making
 * the few results again that a power failure loses. A result with a missing or corrupt blob, or an incomplete line, is
 * dropped and reported when its turn comes.
 *
 * The end of a build waits for indexes and reports: those added at the same time become one file, which is synced once
 * before it is renamed, with its directory, and with the results before it.
 */
export async function openSpool(
  directory: string,
  mostItems = mostItemsAFile,
  syncFile = datasync,
): Promise<Spool> {
  await mkdir(directory, { recursive: true });
  let next = 1;
  let files: SpoolFile[] = [];
  for (const name of (await readdir(directory)).toSorted()) {
    const path = join(directory, name);
    const [, seq, kind] = namePattern.exec(name) ?? [];
    if (name.endsWith(partSuffix)) await rm(path, { force: true });
    if (seq === undefined) continue;
    next = Math.max(next, Number(seq) + 1);
    const text = await readFile(path, "utf8").catch(() => "");
    const { size } = await stat(path);
    const items = linesOf(text).length;
    files.push({ path, kind: kind as SpooledKind, items, bytes: size });
  }

  const newPath = (kind: SpooledKind) =>
    join(directory, `${String(next++).padStart(12, "0")}-${kind}.jsonl`);

  async function write({ kind, lines }: Batch, path = newPath(kind)): Promise<SpoolFile> {
    const text = Buffer.from(`${lines.join("\n")}\n`);
    const file = await open(`${path}${partSuffix}`, "wx");
    try {
      await file.writeFile(text);
      await file.sync();
    } catch (reason) {
      await rm(`${path}${partSuffix}`, { force: true });
      throw reason;
    } finally {
      await file.close();
    }
    return { path, kind, items: lines.length, bytes: text.byteLength };
  }

  let current: OpenFile | undefined;
  /**
   * Paths of results' files that were written since the last sync, including those that are being sent and may return.
   */
  const unsynced = new Set<string>();
  let syncing: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  function openFile(): OpenFile {
    const path = newPath("results");
    const handle = openSync(path, "ax");
    current = { path, kind: "results", items: 0, bytes: 0, handle };
    files.push(current);
    return current;
  }

  /** Closes the current file for additions. */
  function seal(): void {
    if (current === undefined) return;
    const { handle } = current;
    current = undefined;
    closeSync(handle);
  }

  /** A file that cannot be synced delays nothing: its results exist and are being sent. */
  function syncResults(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const paths = [...unsynced];
    unsynced.clear();
    if (paths.length === 0) return syncing;
    syncing = syncing.then(async () => {
      await Promise.allSettled(paths.map(syncFile));
    });
    return syncing;
  }

  function addResult(line: string): void {
    const full =
      current !== undefined &&
      (current.items >= mostItems || current.bytes + line.length > mostBytesAFile);
    if (full) {
      void syncResults();
      seal();
    }
    try {
      const file = current ?? openFile();
      const bytes = Buffer.from(`${line}\n`);
      if (writeSync(file.handle, bytes) < bytes.byteLength) {
        ftruncateSync(file.handle, file.bytes);
        throw Object.assign(new Error("a part of it was written"), { code: "ENOSPC" });
      }
      file.items += 1;
      file.bytes += bytes.byteLength;
      unsynced.add(file.path);
    } catch (reason) {
      throw diskFault(reason, directory);
    }
    timer ??= setTimeout(() => void syncResults(), syncMs).unref();
  }

  const adding = coalescer<Item, void>(async (items) => {
    const written: SpoolFile[] = [];
    // The order on the disk must be the same, because an index refers to earlier results.
    const results = syncResults();
    seal();
    try {
      for (const batch of batchesOf(items)) written.push(await write(batch));
      await results;
      for (const { path } of written) await rename(`${path}${partSuffix}`, path);
      await syncDirectory(directory);
    } catch (reason) {
      // All or none: each item is retried separately afterwards, and would otherwise exist twice.
      for (const { path } of written) {
        await rm(path, { force: true });
        await rm(`${path}${partSuffix}`, { force: true });
      }
      throw diskFault(reason, directory);
    }
    files.push(...written);
    return items.map(() => {});
  });

  return {
    files: () => files,
    addResult,
    add: (kind, line) => adding.add({ kind, line }),
    async lines(file) {
      // A file that is being sent does not grow.
      if (file === current) seal();
      return linesOf(await readFile(file.path, "utf8").catch(unlessItPasses));
    },
    async keepOnly(file, lines) {
      try {
        const left = await write({ kind: file.kind, lines: [...lines] }, file.path);
        await rename(`${file.path}${partSuffix}`, file.path);
        // Not synced, for the same reason as below.
        files = files.map((other) => (other === file ? left : other));
        return left;
      } catch (reason) {
        throw diskFault(reason, directory);
      }
    },
    async remove(file) {
      if (file === current) seal();
      files = files.filter((other) => other !== file);
      unsynced.delete(file.path);
      const lines = linesOf(await readFile(file.path, "utf8").catch(() => ""));
      // Not synced: after a power failure, the data are sent again, which the farm recognises.
      await rm(file.path, { force: true });
      return lines;
    },
    idle: () => adding.idle(),
    async close() {
      await adding.idle();
      await syncResults();
      seal();
      await syncing;
    },
  };
}

interface Batch {
  readonly kind: SpooledKind;
  readonly lines: string[];
}

function batchesOf(items: readonly Item[]): Batch[] {
  const batches: Batch[] = [];
  let bytes = 0;
  for (const { kind, line } of items) {
    const last = batches.at(-1);
    bytes += line.length;
    if (last?.kind === kind && last.lines.length < mostItemsAFile && bytes <= mostBytesAFile) {
      last.lines.push(line);
    } else {
      batches.push({ kind, lines: [line] });
      bytes = line.length;
    }
  }
  return batches;
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

/** Throws for temporary errors: too many open files of this process are no reason to drop data on the disk. */
function unlessItPasses(reason: unknown): string {
  if (["EMFILE", "ENFILE", "ENOMEM", "EAGAIN"].includes(errnoOf(reason) ?? "")) throw reason;
  return "";
}

/** Opens the file itself, because a file that is being sent is closed and may be removed. */
async function datasync(path: string): Promise<void> {
  const opened = await open(path, "r");
  try {
    await opened.datasync();
  } finally {
    await opened.close();
  }
}

async function syncDirectory(directory: string): Promise<void> {
  const opened = await open(directory, "r");
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}
