import { constants, createWriteStream } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { BlobStore } from "#cas/blob-store.ts";
import { assertContainedSymlink, assertLegalPath } from "#cas/path-rules.ts";
import type { TreeEntry } from "#cas/tree-entry.ts";
import { digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";

/**
 * Writes a tree below a new directory.
 *
 * The entries come from a farm, so a path that leaves the directory is refused before anything is written. Links are
 * made last: no file can be written through one.
 */
export async function writeTree(
  store: BlobStore,
  entries: readonly TreeEntry[],
  root: string,
): Promise<void> {
  for (const entry of entries) {
    if (entry.kind === "symlink") assertContainedSymlink(entry.path, entry.target);
    else assertLegalPath(entry.path);
  }
  await mkdir(root);
  for (const entry of entries) {
    if (entry.kind === "symlink") continue;
    const path = join(root, entry.path);
    await mkdir(entry.kind === "directory" ? path : dirname(path), { recursive: true });
    if (entry.kind === "file") await writeFile(store, entry, path);
  }
  for (const entry of entries) {
    if (entry.kind !== "symlink") continue;
    const path = join(root, entry.path);
    await mkdir(dirname(path), { recursive: true });
    await symlink(entry.target, path);
  }
}

async function writeFile(
  store: BlobStore,
  { digest, executable, path: name }: TreeEntry & { readonly kind: "file" },
  path: string,
): Promise<void> {
  const chunks = await store.read(digest);
  if (chunks === undefined) {
    throw new Fault(
      "failed_precondition",
      `the farm no longer has ${name} (blob ${digestKey(digest)}), so the action cannot be reproduced`,
    );
  }
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
  const flags = O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW;
  // `flags` of streams may be a number, which their type does not say.
  const options = { flags: flags as unknown as string, mode: executable ? 0o755 : 0o644 };
  await pipeline(Readable.from(chunks, { objectMode: false }), createWriteStream(path, options));
}
