import type { Verb } from "#core/verb.ts";
import type { Principal } from "../principal.ts";
import { mayDo, requireGrant } from "../require-grant.ts";

/** Each of these verbs uploads bytes: inputs, cache entries, build events, outputs. */
const writingVerbs: readonly Verb[] = ["upload", "execute", "cache", "report", "work"];

/**
 * Returns whether a principal may put blobs into a project. A principal without any of these rights needs no blobs
 * there.
 */
export function mayWriteBlobs(by: Principal, project: string): boolean {
  const where = { repository: project, branch: "" };
  return writingVerbs.some((verb) => mayDo(by, verb, where));
}

/** Throws `permission_denied` for principals without the right, and names the grant that build tools usually need. */
export function requireMayWriteBlobs(by: Principal, project: string): void {
  if (!mayWriteBlobs(by, project)) requireGrant(by, "execute", { repository: project, branch: "" });
}
