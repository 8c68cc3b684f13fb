import { createHash } from "node:crypto";
import { closeSync, fchmodSync, futimesSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { Parser, type ReadEntry } from "tar";
import { ZstdDecoder } from "#cas/zstd/zstd-decoder.ts";
import { Fault, messageOf } from "#core/fault.ts";
import { giveOpenFileToJobs } from "#machine/job-owner.ts";
import { checkedTarget, componentsOf } from "./entry-paths.ts";
import type { LayerEntry, LayerIndex } from "./layer-index.ts";

export interface LayerLimits {
  /** Of all files together, and of the layer without compression. */
  readonly bytes: number;
  readonly entries: number;
}

/** A header with a longer name or longer attributes is not read into memory. In bytes. */
const longestHeader = 64 * 1024;

/** Of all paths and targets of links in a layer, which are in memory together. */
const mostNameBytes = 64 * 1024 * 1024;

/** The bits that new files of this process do not get. `process.umask()` would change it for a moment, for all threads. */
const ownMask = readOwnMask();

function readOwnMask(): number {
  try {
    const status = readFileSync("/proc/self/status", "utf8");
    return Number.parseInt(/^Umask:\s*([0-7]+)$/m.exec(status)?.[1] ?? "777", 8);
  } catch {
    return 0o777;
  }
}

const whiteoutPrefix = ".wh.";
const opaqueName = ".wh..wh..opq";
/** Files of AUFS, which have no meaning for others. */
const aufsPrefix = ".wh..wh.";

/** Of zlib: with its default of 16 KiB, a layer of 200 MB would come in 12,000 turns between threads. */
const gunzipChunkBytes = 256 * 1024;

/**
 * Reads a layer, a tar file that may be packed by gzip or zstd, as it arrives. Writes its files as `0`, `1`, … into an empty
 * directory, and returns the rest as an index.
 *
 * Modes lose setuid, setgid and sticky bits. Devices, sockets and pipes are left out. Throws `invalid_argument` for a
 * layer that is damaged, hostile, or above the limits; what was written is then worthless.
 */
export async function readLayer(
  parts: AsyncIterable<Uint8Array>,
  directory: string,
  limits: LayerLimits,
): Promise<LayerIndex> {
  const reader = new LayerReader(directory, limits);
  const hash = createHash("sha256");
  let unpackedBytes = 0;
  // Headers and padding count, too: a million empty directories have no bytes in files.
  const mostBytes = limits.bytes + limits.entries * 1_536;
  try {
    for await (const part of unpacked(parts, mostBytes)) {
      unpackedBytes += part.byteLength;
      if (unpackedBytes > mostBytes) throw tooMuch(limits);
      hash.update(part);
      await reader.write(part);
    }
    await reader.end();
  } catch (reason) {
    reader.abandon();
    if (reason instanceof Fault) throw reason;
    const { code } = reason as NodeJS.ErrnoException;
    // The disk's own failures are not the image's.
    if (code === "ENOSPC" || code === "EIO" || code === "EDQUOT") throw reason;
    throw new Fault(
      "invalid_argument",
      `a layer of the image cannot be read: ${messageOf(reason)}`,
      {
        cause: reason,
      },
    );
  }
  return { diffId: `sha256:${hash.digest("hex")}`, bytes: reader.bytes, entries: reader.entries };
}

const blockBytes = 512;

/** Receives the bytes of a tar file in order. */
class LayerReader {
  readonly entries: LayerEntry[] = [];
  bytes = 0;
  readonly #directory: string;
  readonly #limits: LayerLimits;
  readonly #parser: Parser;
  #failure: unknown;
  #files = 0;
  #seen = 0;
  #nameBytes = 0;
  #open: number | undefined;
  /** Whether only zeros have arrived, of which the end of a tar file consists. */
  #isBlank = true;
  /** The beginning of a block whose rest has not arrived. */
  #tail = Buffer.alloc(0);
  /** Bytes of the last file that have not arrived. */
  #missing = 0;

  constructor(directory: string, limits: LayerLimits) {
    this.#directory = directory;
    this.#limits = limits;
    this.#parser = new Parser({
      strict: true,
      maxMetaEntrySize: longestHeader,
      // Compression is removed before.
      gzip: false,
      brotli: false,
      onReadEntry: (entry) => this.#guarded(entry, () => this.#read(entry)),
      onwarn: (_code, message) => {
        this.#failure ??= new Fault(
          "invalid_argument",
          `a layer of the image is damaged: ${String(message)}`,
        );
      },
    } as ConstructorParameters<typeof Parser>[0]);
    this.#parser.on("error", (reason: unknown) => (this.#failure ??= reason));
    // Without its long name, an entry would have another one.
    this.#parser.on("ignoredEntry", ({ meta, path, type }: ReadEntry) => {
      const why = meta
        ? `a header of more than ${longestHeader} bytes`
        : `an entry of the kind ${type}, which is not supported,`;
      this.#failure ??= new Fault(
        "invalid_argument",
        `a layer of the image has ${why} at ${JSON.stringify(path)}`,
      );
    });
  }

  async write(part: Uint8Array): Promise<void> {
    let bytes = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
    this.#isBlank &&= bytes.every((byte) => byte === 0);
    if (this.#tail.length > 0) {
      // Only the block that both parts have a piece of is copied.
      const missing = blockBytes - this.#tail.length;
      this.#tail = Buffer.concat([this.#tail, bytes.subarray(0, missing)]);
      bytes = bytes.subarray(missing);
      if (this.#tail.length < blockBytes) return;
      await this.#parse(this.#tail);
    }
    const whole = bytes.length - (bytes.length % blockBytes);
    this.#tail = Buffer.from(bytes.subarray(whole));
    await this.#parse(bytes.subarray(0, whole));
  }

  async #parse(blocks: Buffer): Promise<void> {
    if (blocks.length === 0) return;
    const goesOn = this.#parser.write(blocks);
    if (this.#failure !== undefined) throw this.#failure;
    if (!goesOn) await new Promise((resolve) => setImmediate(resolve));
  }

  async end(): Promise<void> {
    // A tar file of no entries, as Docker's empty layer, is none for the library.
    if (this.#isBlank) return;
    // umoci 0.4 does not fill the block of the last file. Readers in Go, such as Docker's, accept this, too.
    const isWhole = this.#missing <= this.#tail.length;
    const fill = isWhole && this.#tail.length > 0 ? blockBytes - this.#tail.length : 0;
    await this.#parse(Buffer.concat([this.#tail, Buffer.alloc(fill)]));
    const ended = new Promise<void>((resolve, reject) => {
      this.#parser.once("end", resolve);
      this.#parser.once("error", reject);
    });
    this.#parser.end();
    if (this.#failure !== undefined) {
      ended.catch(() => {});
      throw this.#failure;
    }
    await ended;
    if (this.#failure !== undefined) throw this.#failure;
  }

  abandon(): void {
    this.#parser.removeAllListeners("end");
    this.#close();
  }

  #close(): void {
    if (this.#open !== undefined) closeSync(this.#open);
    this.#open = undefined;
  }

  /** An error in a listener must not become one of the library, which would continue. */
  #guarded(entry: ReadEntry, act: () => void): void {
    if (this.#failure !== undefined) {
      entry.resume();
      return;
    }
    try {
      act();
    } catch (reason) {
      this.#failure = reason;
      entry.resume();
    }
  }

  #read(entry: ReadEntry): void {
    if (++this.#seen > this.#limits.entries) throw tooMuch(this.#limits);
    if (this.bytes + entry.size > this.#limits.bytes) throw tooMuch(this.#limits);
    this.#nameBytes += entry.path.length + (entry.linkpath?.length ?? 0);
    if (this.#nameBytes > mostNameBytes)
      throw new Fault(
        "invalid_argument",
        `the names in a layer of the image have more than ${mostNameBytes} bytes`,
      );
    const path = componentsOf(entry.path);
    const name = path.at(-1) ?? "";
    if (name.startsWith(whiteoutPrefix)) {
      this.#whiteout(path, name);
      entry.resume();
      return;
    }
    switch (entry.type) {
      case "File":
      case "OldFile":
      case "ContiguousFile":
        if (path.length === 0)
          throw new Fault("invalid_argument", "a layer of the image replaces the root by a file");
        if (path.some((component) => /^GNUSparseFile\.\d+$/.test(component)))
          throw new Fault(
            "invalid_argument",
            `a layer of the image has ${JSON.stringify(entry.path)}, a part of a sparse file, which is not supported: make the layer without \`tar --sparse\``,
          );
        this.#file(entry, path);
        return;
      case "Directory":
      case "GNUDumpDir":
        this.entries.push({
          kind: "directory",
          path,
          mode: modeOf(entry, 0o755) | 0o700,
          mtime: mtimeOf(entry),
        });
        break;
      case "SymbolicLink":
        this.entries.push({
          kind: "symlink",
          path,
          target: checkedTarget(entry.path, entry.linkpath ?? ""),
        });
        break;
      case "Link":
        this.entries.push({ kind: "hardlink", path, target: componentsOf(entry.linkpath ?? "") });
        break;
      case "CharacterDevice":
      case "BlockDevice":
      case "FIFO":
        // The sandbox has its own devices.
        break;
      case "ContinuationFile":
      case "ExtendedHeader":
      case "GlobalExtendedHeader":
      case "Inode":
      case "NextFileHasLongLinkpath":
      case "NextFileHasLongPath":
      case "OldExtendedHeader":
      case "OldGnuLongPath":
      case "SolarisACL":
      case "SparseFile":
      case "TapeVolumeHeader":
      case "Unsupported":
        throw new Fault(
          "invalid_argument",
          `a layer of the image has ${JSON.stringify(entry.path)} as a ${entry.type}, which is not supported`,
        );
    }
    entry.resume();
  }

  #whiteout(path: string[], name: string): void {
    const parent = path.slice(0, -1);
    if (name === opaqueName) this.entries.push({ kind: "opaque", path: parent });
    else if (!name.startsWith(aufsPrefix)) {
      const hidden = componentsOf(name.slice(whiteoutPrefix.length));
      if (hidden.length !== 1)
        throw new Fault("invalid_argument", "a layer of the image has a whiteout without a name");
      this.entries.push({ kind: "whiteout", path: [...parent, ...hidden] });
    }
  }

  #file(entry: ReadEntry, path: string[]): void {
    const number = this.#files++;
    const mode = modeOf(entry, 0o644) | 0o400;
    const file = openSync(join(this.#directory, `${number}`), "wx", mode);
    this.#open = file;
    this.#missing = entry.size;
    entry.on("data", (part: Buffer) =>
      this.#guarded(entry, () => {
        this.bytes += part.byteLength;
        this.#missing -= part.byteLength;
        if (this.bytes > this.#limits.bytes) throw tooMuch(this.#limits);
        let written = 0;
        while (written < part.byteLength) written += writeSync(file, part, written);
      }),
    );
    entry.on("end", () =>
      this.#guarded(entry, () => {
        giveOpenFileToJobs(file);
        // Otherwise the file has its mode since it was made.
        if ((mode & ownMask) !== 0) fchmodSync(file, mode);
        futimesSync(file, mtimeOf(entry), mtimeOf(entry));
        this.#close();
      }),
    );
    this.entries.push({ kind: "file", path, number });
  }
}

function modeOf({ mode }: ReadEntry, usual: number): number {
  return (mode ?? usual) & 0o777;
}

/** In seconds since 1970; a time that the file system cannot store becomes 0. */
function mtimeOf({ mtime }: ReadEntry): number {
  const seconds = (mtime?.getTime() ?? 0) / 1_000;
  return seconds >= 0 && seconds < 2 ** 33 ? Math.floor(seconds) : 0;
}

async function* unpacked(
  parts: AsyncIterable<Uint8Array>,
  mostBytes: number,
): AsyncGenerator<Uint8Array> {
  const { start, all } = await withStart(parts);
  if (start.readUInt16BE(0) === 0x1f8b) {
    const packed = Readable.from(all, { objectMode: false });
    const gunzip = createGunzip({ chunkSize: gunzipChunkBytes });
    packed.on("error", (reason) => gunzip.destroy(reason));
    try {
      yield* packed.pipe(gunzip) as AsyncIterable<Buffer>;
    } finally {
      packed.destroy();
      gunzip.destroy();
    }
  } else if (start.readUInt32LE(0) === 0xfd2fb528) yield* unzstd(all, mostBytes);
  else yield* all;
}

async function* unzstd(
  packed: AsyncIterable<Uint8Array>,
  mostBytes: number,
): AsyncGenerator<Uint8Array> {
  const decoder = new ZstdDecoder(mostBytes);
  for await (const chunk of packed) yield* decoder.push(chunk);
  decoder.end();
}

/** Returns the first four bytes, zeros in place of those that are not there, and all parts. */
async function withStart(
  parts: AsyncIterable<Uint8Array>,
): Promise<{ start: Buffer; all: AsyncIterable<Uint8Array> }> {
  const source = parts[Symbol.asyncIterator]();
  const first: Uint8Array[] = [];
  let length = 0;
  while (length < 4) {
    const next = await source.next();
    if (next.done === true) break;
    first.push(next.value);
    length += next.value.byteLength;
  }
  const start = Buffer.alloc(4);
  Buffer.concat(first).copy(start);
  return { start, all: joined(first, source) };
}

async function* joined(
  first: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* first;
    for (let next = await rest.next(); next.done !== true; next = await rest.next())
      yield next.value;
  } finally {
    await rest.return?.();
  }
}

function tooMuch({ bytes, entries }: LayerLimits): Fault {
  return new Fault(
    "invalid_argument",
    `the image is too large: a worker unpacks at most ${bytes} bytes and ${entries} entries`,
  );
}
