import type { PGlite } from "@electric-sql/pglite";

/** A file or a directory of Emscripten's file system in memory. */
interface FileNode {
  readonly isFolder: boolean;
  /** Of a directory, its entries by name; of a file, its bytes, of which `usedBytes` are in use. */
  contents: Readonly<Record<string, FileNode>> | Uint8Array | Int8Array | null;
  usedBytes: number;
  readonly node_ops: { setattr?: (node: FileNode, attributes: unknown) => void };
  readonly stream_ops: { write?: (stream: OpenFile, ...rest: unknown[]) => number };
  readonly mounted: unknown;
}

interface OpenFile {
  readonly node: FileNode;
  fd: number | null;
  position: number;
}

interface FileSystem {
  readonly root: FileNode;
  readonly streams: (OpenFile | null | undefined)[];
  unlink(path: string): void;
}

/** The write-ahead log is never read: nothing recovers. */
const neverRead = /^\/pglite\/data\/pg_wal\//;

/**
 * The state of a PostgreSQL that runs as WebAssembly in this process: its memory, its files, which are in memory, too, and
 * the files that it has open.
 *
 * Every seed begins with the same state, with statements that are parsed and planned. To empty the tables instead takes
 * longer, and makes PostgreSQL plan each statement again.
 */
export class PostgresSnapshot {
  readonly #pglite: PGlite;
  readonly #memory: Uint8Array;
  readonly #paths = new Map<string, FileNode>();
  /** What files contained that were written to since. */
  readonly #changed = new Map<FileNode, Uint8Array | undefined>();
  readonly #open: { readonly file: OpenFile; readonly fd: number; readonly position: number }[] =
    [];

  /** Takes the snapshot. PostgreSQL must be between two statements, and outside of a transaction. */
  constructor(pglite: PGlite) {
    this.#pglite = pglite;
    this.#memory = this.#heap().slice();
    this.#walk((path, node) => this.#paths.set(path, node));
    for (const file of this.#files().streams)
      if (file !== null && file !== undefined && file.fd !== null)
        this.#open.push({ file, fd: file.fd, position: file.position });
    this.#watchWrites();
  }

  /** Returns PostgreSQL to the state of the snapshot. */
  restore(): void {
    const heap = this.#heap();
    heap.set(this.#memory);
    heap.fill(0, this.#memory.length);
    const { streams } = this.#files();
    streams.length = 0;
    for (const { file, fd, position } of this.#open) {
      streams[fd] = file;
      file.fd = fd;
      file.position = position;
    }
    for (const [node, before] of this.#changed) {
      if (before === undefined) continue;
      node.contents = before.slice();
      node.usedBytes = before.length;
    }
    const made: string[] = [];
    let known = 0;
    this.#walk((path, node) => {
      if (this.#paths.get(path) === node) known++;
      else made.push(path);
    });
    if (known !== this.#paths.size)
      throw new RangeError("PostgreSQL removed or replaced files that it had before");
    for (const path of made) this.#files().unlink(path);
  }

  /** Keeps what a file contains before its first change. */
  #watchWrites(): void {
    const files = new Map([...this.#paths].map(([path, node]) => [node, path]));
    const aboutToChange = (node: FileNode) => {
      const path = files.get(node);
      if (path === undefined || this.#changed.has(node)) return;
      const { contents, usedBytes } = node;
      const bytes = ArrayBuffer.isView(contents)
        ? new Uint8Array(contents.buffer, contents.byteOffset, usedBytes).slice()
        : new Uint8Array();
      this.#changed.set(node, neverRead.test(path) ? undefined : bytes);
    };
    const watched = new Set<object>();
    for (const { stream_ops, node_ops } of files.keys()) {
      const { write } = stream_ops;
      if (write !== undefined && !watched.has(stream_ops)) {
        watched.add(stream_ops);
        stream_ops.write = (stream, ...rest) => {
          aboutToChange(stream.node);
          return write(stream, ...rest);
        };
      }
      const { setattr } = node_ops;
      if (setattr !== undefined && !watched.has(node_ops)) {
        watched.add(node_ops);
        node_ops.setattr = (node, attributes) => {
          aboutToChange(node);
          setattr(node, attributes);
        };
      }
    }
  }

  /** Visits each file below PostgreSQL's directory. */
  #walk(visit: (path: string, node: FileNode) => void): void {
    const below = (path: string, node: FileNode) => {
      for (const [name, child] of Object.entries(node.contents ?? {})) {
        if (child.isFolder) below(`${path}/${name}`, child);
        else visit(`${path}/${name}`, child);
      }
    };
    let node = this.#files().root;
    for (const name of ["pglite", "data"]) {
      const next = (node.contents as Readonly<Record<string, FileNode>>)[name];
      if (next === undefined) throw new RangeError(`PGlite has no directory /pglite/data`);
      node = next;
    }
    below("/pglite/data", node);
  }

  #heap(): Uint8Array {
    return (this.#pglite.Module as unknown as { HEAPU8: Uint8Array }).HEAPU8;
  }

  #files(): FileSystem {
    return (this.#pglite.Module as unknown as { FS: FileSystem }).FS;
  }
}
