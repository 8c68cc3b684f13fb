import {
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

/** The paths below a directory that were read; `listed` are directories, "" for the top. */
export interface Accesses {
  readonly read: ReadonlySet<string>;
  readonly listed: ReadonlySet<string>;
}

/** Before the modification times, and more than a day ago: then Linux's `relatime` records the next read. */
const accessedAt = Date.UTC(2001, 0, 1) / 1_000;
const modifiedAt = Date.UTC(2010, 0, 1) / 1_000;

/**
 * Records which files, symlinks and directories below a directory are read from now on.
 *
 * It sets their access times, and later checks which of them the kernel has changed. That needs no rights, no tracer
 * and no library in the process, and detects every way to read: read(2), mmap(2), execve(2), readlink(2), getdents(2).
 * It does not detect a check for existence.
 */
export class AccessRecord {
  readonly #root: string;
  readonly #kinds = new Map<string, "leaf" | "directory">();

  constructor(root: string) {
    this.#root = root;
    this.#begin("");
  }

  #begin(path: string): void {
    const at = join(this.#root, path);
    for (const entry of readdirSync(at, { withFileTypes: true })) {
      const below = path === "" ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory()) this.#begin(below);
      else {
        this.#kinds.set(below, "leaf");
        lutimesSync(join(this.#root, below), accessedAt, modifiedAt);
      }
    }
    // Set after this process has read the names in it.
    this.#kinds.set(path, "directory");
    lutimesSync(at, accessedAt, modifiedAt);
  }

  /**
   * Returns the files that were read since then. A file that was removed, or written before it was read, is not
   * included.
   */
  accesses(): Accesses {
    const read = new Set<string>();
    const listed = new Set<string>();
    for (const [path, kind] of this.#kinds) {
      const found = lstatSync(join(this.#root, path), { throwIfNoEntry: false });
      if (found === undefined || found.atimeMs === accessedAt * 1_000) continue;
      if (kind === "directory") listed.add(path);
      else if (found.mtimeMs === modifiedAt * 1_000 || found.atimeMs < found.mtimeMs)
        read.add(path);
    }
    return { read, listed };
  }
}

/** Tests whether the file system of a directory records reads of files, directories and symlinks. */
export function recordsAccess(directory: string): boolean {
  const probe = join(directory, `access-probe-${process.pid}`);
  try {
    mkdirSync(join(probe, "directory"), { recursive: true });
    writeFileSync(join(probe, "directory", "file"), "x");
    symlinkSync("directory/file", join(probe, "link"));
    const record = new AccessRecord(probe);
    if (record.accesses().read.size > 0) return false;
    readdirSync(join(probe, "directory"));
    readFileSync(join(probe, "directory", "file"));
    readlinkSync(join(probe, "link"));
    const { read, listed } = record.accesses();
    return read.size === 2 && listed.has("directory");
  } catch {
    return false;
  } finally {
    rmSync(probe, { recursive: true, force: true });
  }
}
