import { lstatSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { problemOfContainedTarget, problemOfPath } from "#cas/path-rules.ts";
import { sortedByPath } from "#cas/tree-entry.ts";
import { Fault } from "#core/fault.ts";
import type { Git } from "#git/run-git.ts";

/** A file or symlink of a checkout, by its path from the top. */
export type WorkingEntry =
  | {
      readonly kind: "file";
      readonly path: string;
      readonly executable: boolean;
      readonly version: FileVersion;
    }
  | { readonly kind: "symlink"; readonly path: string; readonly target: string };

/** A value that changes whenever the bytes of a file change. */
export interface FileVersion {
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  readonly changedMs: number;
  readonly inode: number;
}

/** Enough for about two million files. */
const maxListBytes = 256 * 1024 * 1024;

/**
 * Lists the files that a commit of the whole checkout would have: tracked files in their present state, and untracked
 * ones that Git does not ignore. Entries that an input tree cannot contain (submodules, absolute symlinks) are left
 * out, as for a commit.
 */
export async function readWorkingTree(git: Git, root: string): Promise<readonly WorkingEntry[]> {
  const { exitCode, stdout, stderr } = await git.run(
    ["ls-files", "-z", "--cached", "--others", "--exclude-standard"],
    { directory: root, maxOutputBytes: maxListBytes },
  );
  if (exitCode !== 0) {
    const why = stderr.trim().split("\n").at(-1) ?? "";
    throw new Fault("failed_precondition", `the files of ${root} cannot be listed: ${why}`);
  }
  const paths = new Set(stdout.toString("utf8").split("\0"));
  paths.delete("");
  return sortedByPath([...paths].flatMap((path) => entryAt(root, path) ?? []));
}

/**
 * Returns the file or symlink at a path; undefined for other kinds, and for entries that an input tree cannot contain.
 */
export function entryAt(root: string, path: string): WorkingEntry | undefined {
  const found = lstatSync(join(root, path), { throwIfNoEntry: false });
  if (found === undefined || problemOfPath(path) !== undefined) return undefined;
  if (found.isSymbolicLink()) {
    const target = readlinkSync(join(root, path));
    return problemOfContainedTarget(path, target) === undefined
      ? { kind: "symlink", path, target }
      : undefined;
  }
  if (!found.isFile()) return undefined;
  const version = {
    sizeBytes: found.size,
    modifiedMs: found.mtimeMs,
    changedMs: found.ctimeMs,
    inode: found.ino,
  };
  return { kind: "file", path, executable: (found.mode & 0o100) !== 0, version };
}
