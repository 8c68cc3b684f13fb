import { createHash } from "node:crypto";
import { type Digest, digestKey } from "#core/digest.ts";
import type { InputDirectory } from "../input-root/input-directory.ts";

/** Directories are shared by many trees: each is read once. */
const known = new WeakMap<InputDirectory, string | null>();

/**
 * Returns a hash of the names and contents of all inputs that the client marked as tools; undefined if there are none.
 * A process that was started with these files is of no use once one of them has changed.
 */
export function hashOfTools(directory: InputDirectory): string | undefined {
  const before = known.get(directory);
  if (before !== undefined) return before ?? undefined;
  const parts = [
    ...directory.files
      .filter(({ isTool }) => isTool === true)
      .map(({ name, digest, executable }) => ["file", name, digestKey(digest), executable]),
    ...directory.directories.flatMap(({ name, directory: child }) => {
      const hash = hashOfTools(child);
      return hash === undefined ? [] : [["directory", name, hash]];
    }),
  ];
  const hash =
    parts.length === 0 ? null : createHash("sha256").update(JSON.stringify(parts)).digest("hex");
  known.set(directory, hash);
  return hash ?? undefined;
}

/** Returns the files of a tree, as a request lists them. */
export function inputsOfRequest(root: InputDirectory): { path: string; digest: string }[] {
  const inputs: { path: string; digest: string }[] = [];
  const walk = (directory: InputDirectory, prefix: string): void => {
    for (const { name, digest } of directory.files)
      inputs.push({ path: `${prefix}${name}`, digest: digest.hash });
    for (const child of directory.directories) walk(child.directory, `${prefix}${child.name}/`);
  };
  walk(root, "");
  return inputs;
}

/** Returns the digest of a file of a tree; undefined if there is none at this path, also behind a symlink. */
export function fileAt(root: InputDirectory, path: string): Digest | undefined {
  const names = path.split("/");
  const last = names.pop();
  let at: InputDirectory | undefined = root;
  for (const name of names) {
    at = at?.directories.find((child) => child.name === name)?.directory;
  }
  return at?.files.find(({ name }) => name === last)?.digest;
}
