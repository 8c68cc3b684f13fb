import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { checkoutRoot } from "./checkout.ts";

/**
 * Returns the repository of a command: a path or URL, or a name that the farm knows; by default the checkout of the
 * current directory.
 */
export async function repositoryHere(
  written: string | undefined,
  directory: string,
): Promise<string> {
  const path = resolve(directory, written ?? ".");
  if (written !== undefined && !existsSync(path)) return written;
  return (await checkoutRoot(path)) ?? path;
}
