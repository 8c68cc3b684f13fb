import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { diskFault } from "#cas/disk-fault.ts";
import { coalescer } from "#core/coalescer.ts";

const spooledKinds = ["results", "index", "report"] as const;
export type SpooledKind = (typeof spooledKinds)[number];

export interface SpoolFile {
  readonly path: string;
  readonly kind: SpooledKind;
  readonly items: number;
  readonly bytes: number;
}

/** What waits, as lines of files in the order in which it came; each file is of one kind. */
export interface Spool {
  /** The oldest first. */
  files(): readonly SpoolFile[];
  /** Durable once this resolves. */
  add(kind: SpooledKind, line: string): Promise<void>;
  /** Empty when it cannot be read. */
  lines(file: SpoolFile): Promise<string[]>;
  /** Leaves these of its lines, in its place. Answers the file as it is then. */
  keepOnly(file: SpoolFile, lines: readonly string[]): Promise<SpoolFile>;
  /** Answers its lines. It is none of the files from the moment of the call. */
  remove(file: SpoolFile): Promise<string[]>;
  /** Resolves when nothing is being written. */
  idle(): Promise<void>;
}

interface Item {
  readonly kind: SpooledKind;
  readonly line: string;
}

const partSuffix = ".part";
const namePattern = /^(\d{12})-(results|index|report)\.jsonl$/;

/** One request to the farm is made of a file or two. */
const mostItemsAFile = 500;
const mostBytesAFile = 8 * 1024 * 1024;

/**
 * Opens the spool of a data directory.
 *
 * What is added at the same time becomes one file, synced once, before it is renamed, with its directory: an add alone
 * costs two syncs, those of a build share theirs. The list of what waits, indexes and reports so survive a power cut.
 * The blobs of results are not synced: syncing each of a build's outputs would cost more than making those few again
 * that a power cut takes; a result whose blob is gone or has rotted is dropped when its turn comes, and said.
 */
export async function openSpool(directory: string): Promise<Spool> {
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

  const adding = coalescer<Item, void>(async (items) => {
    const written: SpoolFile[] = [];
    try {
      for (const batch of batchesOf(items)) written.push(await write(batch));
      for (const { path } of written) await rename(`${path}${partSuffix}`, path);
      await syncDirectory(directory);
    } catch (reason) {
      // All or none: each is tried by itself after this, and would else be there twice.
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
    add: (kind, line) => adding.add({ kind, line }),
    lines: async ({ path }) => linesOf(await readFile(path, "utf8").catch(() => "")),
    async keepOnly(file, lines) {
      try {
        const left = await write({ kind: file.kind, lines: [...lines] }, file.path);
        await rename(`${file.path}${partSuffix}`, file.path);
        // Not synced, as below.
        files = files.map((other) => (other === file ? left : other));
        return left;
      } catch (reason) {
        throw diskFault(reason, directory);
      }
    },
    async remove(file) {
      files = files.filter((other) => other !== file);
      const lines = linesOf(await readFile(file.path, "utf8").catch(() => ""));
      // Not synced: what comes back after a power cut is sent once more, which the farm takes for known.
      await rm(file.path, { force: true });
      return lines;
    },
    idle: () => adding.idle(),
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

async function syncDirectory(directory: string): Promise<void> {
  const opened = await open(directory, "r");
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}
