import { mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";

const endpointFiles = "dune-cache-daemon";

/**
 * A build's own runtime directory, for the endpoint file of its dune: it links to everything in the user's own
 * directory, because the build may run other programs.
 */
export async function makeRuntimeDirectory(path: string, users: string | undefined): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  if (!users) return;
  for (const name of await readdir(users).catch(() => [])) {
    if (name !== endpointFiles) await symlink(join(users, name), join(path, name)).catch(() => {});
  }
}
