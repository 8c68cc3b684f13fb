import { isUtf8 } from "node:buffer";
import type { Stats } from "node:fs";
import { lstat, readdir, readlink } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import { buildDirectoryTree, type DirectoryTree } from "#cas/build-directory-tree.ts";
import { joined, problemOfPath, problemOfTarget, quotePath, refuse } from "#cas/path-rules.ts";
import type { TreeEntry } from "#cas/tree-entry.ts";
import type { Digest, DigestFunction } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { memorySizeText } from "#core/memory-size.ts";
import type { NodeProperties } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import type { DeclaredOutput } from "./declared-outputs.ts";
import { digestOfFile } from "./digest-of-file.ts";
import { defaultOutputLimits, type OutputLimits } from "./output-limits.ts";
import { propertiesOf, type WantedProperties } from "./output-properties.ts";

/** One declared output that exists. `path` is written as in the command. */
type Output =
  | {
      readonly kind: "file";
      readonly path: string;
      readonly digest: Digest;
      readonly executable: boolean;
      readonly properties?: NodeProperties;
    }
  | {
      readonly kind: "symlink";
      readonly path: string;
      readonly target: string;
      readonly properties?: NodeProperties;
      /** The older list in which older clients look for the output. */
      readonly oldKind?: "file" | "directory";
    }
  | { readonly kind: "directory"; readonly path: string; readonly tree: DirectoryTree };

/** A file among the outputs, by its path below the root of the job's tree. */
interface OutputFile {
  readonly at: string;
  readonly digest: Digest;
  readonly executable: boolean;
}

export interface CollectedOutputs {
  readonly outputs: readonly Output[];
  readonly files: readonly OutputFile[];
  /** Declared outputs that do not exist. REv2 leaves them out of the result. */
  readonly missing: readonly string[];
  /** Reasons why some existing paths cannot be outputs; the others are collected. */
  readonly refused: readonly string[];
}

export interface CollectOptions {
  readonly digestFunction?: DigestFunction;
  readonly properties?: WantedProperties | undefined;
  readonly limits?: OutputLimits;
  /** Ends the collection: the call rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/**
 * Finds the outputs that a command declared, after its processes have ended.
 *
 * It follows no symlink in a path, because one that points out of the tree would publish a file of the machine. An
 * illegal output is a failure of the action; the other outputs, such as the log of a test, are still collected.
 */
export async function collectOutputs(
  root: string,
  declared: readonly DeclaredOutput[],
  {
    digestFunction = "sha256",
    properties,
    limits = defaultOutputLimits,
    signal,
  }: CollectOptions = {},
): Promise<CollectedOutputs> {
  const collector = new Collector({ root, digestFunction, properties, limits, signal });
  const outputs: Output[] = [];
  const missing: string[] = [];
  const refused: string[] = [];
  for (const each of declared) {
    try {
      const output = await collector.output(each);
      if (output) outputs.push(output);
      else missing.push(each.path);
    } catch (reason) {
      if (!(reason instanceof Fault && ofTheAction.has(reason.code))) throw reason;
      refused.push(reason.message);
    }
  }
  return { outputs, files: collector.files, missing, refused };
}

/** Errors that the action can cause. The machine causes all others. */
const ofTheAction: ReadonlySet<string> = new Set([
  "invalid_argument",
  "failed_precondition",
  "resource_exhausted",
]);

type Leaf = Exclude<TreeEntry, { readonly kind: "directory" }>;

interface CollectorParts {
  readonly root: string;
  readonly digestFunction: DigestFunction;
  readonly properties: WantedProperties | undefined;
  readonly limits: OutputLimits;
  readonly signal: AbortSignal | undefined;
}

/** The running totals of a declared output. */
interface Sum {
  entries: number;
  bytes: number;
  /** How many of these bytes are on the disk. */
  onDisk: number;
}

class Collector {
  /** The accepted outputs. */
  readonly files: OutputFile[] = [];
  readonly #root: string;
  readonly #digestFunction: DigestFunction;
  readonly #properties: WantedProperties | undefined;
  readonly #limits: OutputLimits;
  readonly #signal: AbortSignal | undefined;
  readonly #all: Sum = { entries: 0, bytes: 0, onDisk: 0 };
  /** The path of the current output. */
  #path = "";
  #sum: Sum = { entries: 0, bytes: 0, onDisk: 0 };
  #files: OutputFile[] = [];

  constructor({ root, digestFunction, properties, limits, signal }: CollectorParts) {
    this.#root = root;
    this.#digestFunction = digestFunction;
    this.#properties = properties;
    this.#limits = limits;
    this.#signal = signal;
  }

  /** Returns undefined when nothing exists there. A refused output is not counted further, and contributes no files. */
  async output(declared: DeclaredOutput): Promise<Output | undefined> {
    this.#path = declared.path;
    this.#sum = { entries: 0, bytes: 0, onDisk: 0 };
    this.#files = [];
    const output = await this.#output(declared);
    this.#all.entries += this.#sum.entries;
    this.#all.bytes += this.#sum.bytes;
    this.#all.onDisk += this.#sum.onDisk;
    for (const file of this.#files) this.files.push(file);
    return output;
  }

  async #output({ path, at, kind, isOld }: DeclaredOutput): Promise<Output | undefined> {
    const found = await this.#lookUp(at);
    if (!found) return undefined;
    const is = found.isSymbolicLink() ? "either" : found.isDirectory() ? "directory" : "file";
    if (kind !== "either" && is !== "either" && is !== kind) {
      throw new Fault(
        "failed_precondition",
        `output ${quotePath(path)} is a ${is}, but it is declared as a ${kind}`,
      );
    }
    if (!found.isDirectory()) {
      const entry = await this.#leaf(at, found);
      if (entry.kind !== "symlink" || !isOld) return { ...entry, path };
      return {
        ...entry,
        path,
        oldKind: kind === "either" ? await this.#kindOf(at, entry.target) : kind,
      };
    }
    const entries: TreeEntry[] = [];
    await this.#walk(at, "", entries);
    return { kind: "directory", path, tree: buildDirectoryTree(entries, this.#digestFunction, at) };
  }

  /** Returns the kind of a symlink's target, if no other symlink is in the path, and it is not absolute. */
  async #kindOf(at: string, target: string): Promise<"file" | "directory"> {
    if (target.startsWith("/")) return "file";
    const found = await this.#lookUp(normalize(join(dirname(at), target))).catch(() => undefined);
    return found?.isDirectory() ? "directory" : "file";
  }

  /** Checks each name of the path: a symlink there leads to another place, and is not the output. */
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
    const names = await namesIn(join(this.#root, at), at);
    if (names.length === 0 && below !== "") into.push({ kind: "directory", path: below });
    const directories: string[] = [];
    await mapAtMost(8, names, async (name) => {
      const path = joined(below, name);
      const childAt = joined(top, path);
      refuse(childAt, problemOfPath(path));
      const found = await lstat(join(this.#root, childAt));
      if (found.isDirectory()) {
        this.#count(0, 0);
        directories.push(path);
        return;
      }
      // A link may point out of the directory but not out of the root: a reader that places the directory elsewhere
      // checks it there.
      const entry = await this.#leaf(childAt, found);
      into.push({ ...entry, path });
    });
    // One after the other, because the files of one directory keep the disk busy.
    for (const path of directories) await this.#walk(top, path, into);
  }

  async #leaf(at: string, found: Stats): Promise<Leaf> {
    this.#count(found.size, found.blocks * bytesOfBlock);
    const path = join(this.#root, at);
    const wanted = this.#properties;
    const properties = wanted && { properties: await propertiesOf(path, wanted) };
    if (found.isSymbolicLink()) {
      const target = await readlink(path, { encoding: "buffer" });
      if (!isUtf8(target)) refuse(at, "is a symlink whose target is not valid UTF-8");
      refuse(at, problemOfTarget(at, target.toString()));
      return { kind: "symlink", path: at, target: target.toString(), ...properties };
    }
    if (!found.isFile())
      throw new Fault(
        "invalid_argument",
        `output ${quotePath(at)} is ${kindOf(found)}; only files, directories and symlinks can be outputs`,
      );
    const digest = await digestOfFile(path, found.size, this.#digestFunction, this.#signal);
    const executable = (found.mode & 0o100) !== 0;
    this.#files.push({ at, digest, executable });
    return { kind: "file", path: at, digest, executable, ...properties };
  }

  /** Counts one entry, before its content is read. */
  #count(length: number, onDisk: number): void {
    this.#signal?.throwIfAborted();
    this.#sum.entries++;
    this.#sum.bytes += Math.max(length, onDisk);
    this.#sum.onDisk += onDisk;
    const { maxEntries, maxBytesOfEach, maxBytesOfAll } = this.#limits;
    const entries = this.#all.entries + this.#sum.entries;
    if (entries > maxEntries)
      throw new Fault(
        "resource_exhausted",
        `there are more than ${maxEntries} files in the outputs`,
      );
    const output = quotePath(this.#path);
    if (this.#sum.bytes > maxBytesOfEach)
      throw tooLarge(`output ${output} has at least`, this.#sum, maxBytesOfEach, "one output");
    const all = {
      bytes: this.#all.bytes + this.#sum.bytes,
      onDisk: this.#all.onDisk + this.#sum.onDisk,
    };
    if (all.bytes > maxBytesOfAll)
      throw tooLarge(
        `the outputs up to ${output} have at least`,
        all,
        maxBytesOfAll,
        "all outputs",
      );
  }
}

/** The unit of `st_blocks`, on every file system. Source: stat(2). */
const bytesOfBlock = 512;

function tooLarge(
  what: string,
  { bytes, onDisk }: Pick<Sum, "bytes" | "onDisk">,
  limit: number,
  of: string,
): Fault {
  // Below a half, the cause is holes and not compression by the file system.
  const sparse =
    onDisk < bytes / 2 ? `, of which ${memorySizeText(onDisk)} on the disk (sparse)` : "";
  return new Fault(
    "resource_exhausted",
    `${what} ${memorySizeText(bytes)}${sparse}; the limit for ${of} is ${memorySizeText(limit)}: ` +
      "let the job make less, or raise its `limits: outputs`, or the worker's limit (docs/settings.md)",
  );
}

/** Node shows bytes that are not UTF-8 as U+FFFD, and would open another file name. */
async function namesIn(path: string, at: string): Promise<string[]> {
  const names = await readdir(path);
  if (!names.some((name) => name.includes("\uFFFD"))) return names;
  for (const name of await readdir(path, { encoding: "buffer" })) {
    if (isUtf8(name)) continue;
    refuse(joined(at, name.toString("latin1")), "has a name that is not valid UTF-8");
  }
  return names;
}

function kindOf(found: Stats): string {
  if (found.isFIFO()) return "a pipe";
  if (found.isSocket()) return "a socket";
  return "a device";
}
