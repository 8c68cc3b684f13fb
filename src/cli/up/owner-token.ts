import { open } from "node:fs/promises";
import { join } from "node:path";
import { signInEndpoints } from "#api/endpoints/sign-in-endpoints.ts";
import type { ApiClient } from "../api/api-client.ts";
import { dataDirectoryAbove } from "./farm-data-here.ts";
import { farmHeldIn } from "./hold-data-directory.ts";

/** Returns the owner's token in a farm's data directory; undefined when there is none that belongs to this user. */
export async function ownerTokenIn(dataDir: string): Promise<string | undefined> {
  const handle = await open(join(dataDir, "owner-token")).catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    const { uid, mode } = await handle.stat();
    // A directory of another user, for example in a repository, is not trusted.
    if (uid !== process.getuid?.() || (mode & 0o077) !== 0) return undefined;
    const token = (await handle.readFile("utf8")).trim();
    return /^grange_[A-Za-z0-9_-]{43}$/.test(token) ? token : undefined;
  } finally {
    await handle.close();
  }
}

/**
 * Returns the owner's token of the farm that `grange up` runs in this directory, for commands to that farm.
 *
 * It is sent to no other address, whatever the directory contains.
 */
export async function ownerTokenFor(
  serverUrl: string,
  named: string | undefined,
  here: string,
): Promise<string | undefined> {
  const dataDir = named ?? dataDirectoryAbove(here);
  if (dataDir === undefined) return undefined;
  const url = farmHeldIn(dataDir);
  if (url === undefined || !URL.canParse(serverUrl)) return undefined;
  if (new URL(url).origin !== new URL(serverUrl).origin) return undefined;
  return ownerTokenIn(dataDir);
}

/**
 * Returns an address that signs in one browser with `api`'s token; undefined on an open farm, which needs no sign-in.
 */
export async function linkToSignIn(api: ApiClient): Promise<string | undefined> {
  const { isOpen } = await api.call(signInEndpoints.session, {});
  return isOpen ? undefined : (await api.call(signInEndpoints.signInLink, {})).url;
}
