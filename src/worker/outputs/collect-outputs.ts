import type { Stats } from "node:fs";
import { lstat, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { buildDirectoryTree, type DirectoryTree } from "#cas/build-directory-tree.ts";
import { mapAtMost } from "#cas/map-at-most.ts";
import { problemOfPath, problemOfTarget, quotePath, refuse } from "#cas/path-rules.ts";
import type { TreeEntry } from "#cas/tree-entry.ts";
import type { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { digestOfFile } from "./digest-of-file.ts";

export interface OutputLimits {
  readonly maxEntries: number;
  readonly maxBytes: number;
}

export const usualOutputLimits: OutputLimits = { maxEntries: 500_000, maxBytes: 64 * 1024 ** 3 };

/** One declared output that is there. `path` is as the command spelled it. */
export type Output =
  | {
      readonly kind: "file";
      readonly path: string;
      readonly digest: Digest;
      readonly executable: boolean;
    }
  | { readonly kind: "symlink"; readonly path: string; readonly target: string }
  | { readonly kind: "directory"; readonly path: string; readonly tree: DirectoryTree };

/** A file among the outputs, by its path below the root of the job's tree. */
export interface OutputFile {
  readonly at: string;
  readonly digest: Digest;
  readonly executable: boolean;
}

export interface CollectedOutputs {
  readonly outputs: readonly Output[];
  readonly files: readonly OutputFile[];
  /** Declared, and not there. REv2 leaves them out of the result. */
  readonly missing: readonly string[];
}

/**
 * Finds what a command declared, after its processes have ended.
 *
 * No symlink is followed on the way: one that points out of the tree would have
 * us publish a file of the machine. Throws `invalid_argument` with the path for
 * what cannot be an output.
 */
export async function collectOutputs(
  root: string,
  workingDirectory: string,
  paths: readonly string[],
  limits: OutputLimits = usualOutputLimits,
): Promise<CollectedOutputs> {
  const collector = new Collector(root, limits);
  const outputs: Output[] = [];
  const missing: string[] = [];
  for (const path of new Set(paths)) {
    const output = await collector.output(path, joined(workingDirectory, trimmed(path)));
    if (output) outputs.push(output);
    else missing.push(path);
  }
  return { outputs, files: collector.files, missing };
}

class Collector {
  readonly files: OutputFile[] = [];
  readonly #root: string;
  readonly #limits: OutputLimits;
  #entries = 0;
  #bytes = 0;

  constructor(root: string, limits: OutputLimits) {
    this.#root = root;
    this.#limits = limits;
  }

  async output(path: string, at: string): Promise<Output | undefined> {
    const found = await this.#lookUp(at);
    if (!found) return undefined;
    if (!found.isDirectory()) {
      const entry = await this.#leaf(at, found);
      return entry.kind === "directory" ? undefined : { ...entry, path };
    }
    const entries: TreeEntry[] = [];
    await this.#walk(at, "", entries);
    return { kind: "directory", path, tree: buildDirectoryTree(entries) };
  }

  /** Looks at each name on the way: a symlink there leads elsewhere, and is not the output. */
  async #lookUp(at: string): Promise<Stats | undefined> {
    if (at === "") return lstat(this.#root);
    refuse(at, problemOfPath(at));
    const names = at.split("/");
    for (let depth = 1; depth <= names.length; depth++) {
      const path = names.slice(0, depth).join("/");
      const found = await lstat(join(this.#root, path)).catch(() => undefined);
      if (!found || depth === names.length) return found;
      if (found.isSymbolicLink()) refuse(at, `lies behind the symlink ${quotePath(path)}`);
      if (!found.isDirectory()) return undefined;
    }
    return undefined;
  }

  async #walk(top: string, below: string, into: TreeEntry[]): Promise<void> {
    const at = joined(top, below);
    const names = await readdir(join(this.#root, at));
    if (names.length === 0 && below !== "") into.push({ kind: "directory", path: below });
    const directories: string[] = [];
    await mapAtMost(8, names, async (name) => {
      const path = joined(below, name);
      const childAt = joined(top, path);
      refuse(childAt, problemOfPath(path));
      const found = await lstat(join(this.#root, childAt));
      if (found.isDirectory()) {
        this.#count(0);
        directories.push(path);
        return;
      }
      const entry = await this.#leaf(childAt, found);
      // Within a directory, links are judged from its top: it may be put anywhere.
      if (entry.kind === "symlink") refuse(childAt, problemOfTarget(path, entry.target));
      into.push({ ...entry, path });
    });
    // One after the other: the files of one are enough to keep the disk busy.
    for (const path of directories) await this.#walk(top, path, into);
  }

  async #leaf(at: string, found: Stats): Promise<TreeEntry> {
    this.#count(found.size);
    if (found.isSymbolicLink()) {
      const target = await readlink(join(this.#root, at));
      refuse(at, problemOfTarget(at, target));
      return { kind: "symlink", path: at, target };
    }
    if (!found.isFile())
      throw new Fault(
        "invalid_argument",
        `output ${quotePath(at)} is ${kindOf(found)}; only files, directories and symlinks can be outputs`,
      );
    const digest = await digestOfFile(join(this.#root, at), found.size);
    const executable = (found.mode & 0o100) !== 0;
    this.files.push({ at, digest, executable });
    return { kind: "file", path: at, digest, executable };
  }

  #count(bytes: number): void {
    this.#entries++;
    this.#bytes += bytes;
    const { maxEntries, maxBytes } = this.#limits;
    if (this.#entries > maxEntries) {
      throw new Fault("resource_exhausted", `there are more than ${maxEntries} outputs`);
    }
    if (this.#bytes > maxBytes) {
      throw new Fault("resource_exhausted", `the outputs are larger than ${maxBytes} bytes`);
    }
  }
}

function joined(at: string, below: string): string {
  return at === "" || below === "" ? at + below : `${at}/${below}`;
}

function trimmed(path: string): string {
  return path.replace(/\/+$/, "");
}

function kindOf(found: Stats): string {
  if (found.isFIFO()) return "a pipe";
  if (found.isSocket()) return "a socket";
  return "a device";
}
