import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { checkoutRoot } from "./checkout.ts";

/**
 * The repository that a command is about: a path or URL, or a name that the farm knows; by default the
 * checkout that the user stands in.
 */
export async function repositoryHere(
  written: string | undefined,
  directory: string,
): Promise<string> {
  const path = resolve(directory, written ?? ".");
  if (written !== undefined && !existsSync(path)) return written;
  return (await checkoutRoot(path)) ?? path;
}
