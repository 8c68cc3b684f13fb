import { randomUUID } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { z } from "zod";

/** The file's name in a farm's data directory. */
const listName = "secret-files.json";
const List = z.array(z.string());

/**
 * Records in a farm's data directory which files elsewhere contain its keys, for the workers of this machine: their
 * jobs run as the same user, and must not see these files. Replaces the earlier record.
 */
export async function noteSecretFiles(
  dataDir: string,
  files: readonly (string | undefined)[],
): Promise<void> {
  const given = files.filter((file) => file !== undefined).map((file) => resolve(file));
  const list = join(dataDir, listName);
  const aside = `${list}.${randomUUID()}`;
  await writeFile(aside, `${JSON.stringify(given)}\n`, { mode: 0o600 });
  await rename(aside, list);
}

/** Returns the files that a server recorded there; none without a record, or when it is unreadable. */
export function secretFilesOf(dataDir: string): readonly string[] {
  try {
    return List.parse(JSON.parse(readFileSync(join(dataDir, listName), "utf8")));
  } catch {
    return [];
  }
}

/** Returns the real paths of files, because a job may reach a file through any link. */
export function realPlaces(files: readonly string[]): string[] {
  const real = files.flatMap((file) => {
    try {
      return [realpathSync(file)];
    } catch {
      // Jobs cannot read a file that this process cannot read.
      return [];
    }
  });
  return [...new Set(real)];
}
