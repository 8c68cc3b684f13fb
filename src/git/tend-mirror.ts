import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Git } from "./run-git.ts";

/** Git searches packs one after the other; up to this number, the cost is negligible. */
const defaultMostPacks = 50;

const timeoutMs = 10 * 60_000;

/**
 * Joins the packs of a mirror when there are many: each fetch adds one.
 *
 * No object is dropped, even without a ref, and concurrent readers find their objects in the new pack. If it fails, the
 * next fetch retries.
 */
export async function tendMirror(
  git: Git,
  mirror: string,
  mostPacks: number = defaultMostPacks,
): Promise<void> {
  const files = await readdir(join(mirror, "objects", "pack"));
  if (files.filter((name) => name.endsWith(".pack")).length <= mostPacks) return;
  const options = { directory: mirror, timeoutMs };
  await git.run(["repack", "--geometric=2", "-d", "--quiet"], options);
  await git.run(["pack-refs", "--all"], options);
}

/** Removes locks and incomplete packs that killed processes have left. */
export async function removeAbandoned(mirror: string, olderThanMs: number): Promise<void> {
  const below = async (directory: string, recursive: boolean) =>
    (await readdir(join(mirror, directory), { recursive })).map((name) => join(directory, name));
  const names = [
    ...(await below(".", false)),
    ...(await below("refs", true)),
    ...(await below("objects/pack", false)),
  ];
  for (const name of names.filter((n) => n.endsWith(".lock") || /pack\/(\.)?tmp[-_]/.test(n))) {
    const file = await stat(join(mirror, name)).catch(() => undefined);
    if (file && Date.now() - file.mtimeMs > olderThanMs) await rm(join(mirror, name));
  }
}
