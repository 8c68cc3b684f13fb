import { chmod, lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/**
 * Removes a directory in which a job or a measured program wrote.
 *
 * They may leave directories that their owner cannot enter. Modes are changed only when such a directory is found.
 * Links are not followed.
 */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    await openUp(path);
    await rm(path, { recursive: true, force: true, maxRetries: 2 });
  }
}

async function openUp(path: string): Promise<void> {
  const entry = await lstat(path).catch(() => undefined);
  if (!entry?.isDirectory()) return;
  await chmod(path, 0o700).catch(() => {});
  for (const name of await readdir(path).catch(() => [])) await openUp(join(path, name));
}
