import type { Principal } from "#access/principal.ts";
import { requireGrantSomewhere } from "#access/require-grant.ts";
import type { PreviewGraph } from "#api/preview.ts";

/**
 * Asks the rights for a preview, where it does more than look at what the farm has: throws `permission_denied`.
 *
 * Who may not submit does not make the farm fetch anything, and who may not define reads no directory of
 * its machine, here as little as at submission.
 */
export function requireMayPreview(by: Principal, { rev, definitionsFrom }: PreviewGraph): void {
  if (definitionsFrom?.kind === "directory") requireGrantSomewhere(by, "define");
  if (rev !== undefined || definitionsFrom?.kind === "repository")
    requireGrantSomewhere(by, "submit");
}
