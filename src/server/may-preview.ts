import type { Principal } from "#access/principal.ts";
import { requireGrantSomewhere } from "#access/require-grant.ts";
import type { PreviewGraph } from "#api/preview.ts";

const mostBytesOfStrangers = 16 * 1024;

/**
 * Asks the rights for a preview, where it does more than look at what the farm has: throws `permission_denied`.
 *
 * Who may not submit does not make the farm fetch anything, and who may not define reads no directory of
 * its machine, here as little as at submission. What is sent along is parsed while nobody else is served, some 4 µs for
 * each byte of the worst: who may not submit sends little.
 */
export function requireMayPreview(
  by: Principal,
  { rev, definitionsFrom, definitions }: PreviewGraph,
): void {
  if (definitionsFrom?.kind === "directory") requireGrantSomewhere(by, "define");
  if (rev !== undefined || definitionsFrom?.kind === "repository")
    requireGrantSomewhere(by, "submit");
  const sizes = Object.values(definitions ?? {}).map((text) => Buffer.byteLength(text));
  if (sizes.reduce((sum, size) => sum + size, 0) > mostBytesOfStrangers)
    requireGrantSomewhere(by, "submit");
}
