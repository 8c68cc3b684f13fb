import type { Verb } from "#core/verb.ts";
import { grantsFor, type Principal } from "./principal.ts";
import { requireGrant } from "./require-grant.ts";

/** A build tool, a granary and a worker read the blobs and results that they use. */
const blobReaders: readonly Verb[] = ["read", "execute", "cache", "report", "work"];
/** A client asks which blobs are missing before it uploads them. */
const blobFinders: readonly Verb[] = [...blobReaders, "upload"];
/** A build tool follows the output of the actions that it requested. */
const logReaders: readonly Verb[] = ["read-logs", "execute"];
/** An operation is known to build tools of its project, and to readers. */
const operationReaders: readonly Verb[] = ["read", "execute", "cancel"];

/** Returns whether a principal has one of the verbs for all of a project. */
function mayIn(by: Principal, project: string, verbs: readonly Verb[]): boolean {
  return grantsFor(by, verbs, { repository: project, branch: "" }).length > 0;
}

/**
 * Throws `permission_denied` for callers that may not read blobs and results of a project. The answer does not depend
 * on what the project contains, or on whether it exists.
 */
export function requireMayReadBlobs(by: Principal, project: string): void {
  if (!mayIn(by, project, blobReaders))
    requireGrant(by, "read", { repository: project, branch: "" });
}

/** The same for callers that ask which blobs a project lacks. */
export function requireMayFindBlobs(by: Principal, project: string): void {
  if (!mayIn(by, project, blobFinders))
    requireGrant(by, "read", { repository: project, branch: "" });
}

/** The same for callers that read logs of a project's executions. */
export function requireMayReadLogs(by: Principal, project: string): void {
  if (!mayIn(by, project, logReaders))
    requireGrant(by, "read-logs", { repository: project, branch: "" });
}

/** Returns whether a caller may know that an operation of a project exists. */
export function mayReadOperations(by: Principal, project: string): boolean {
  return mayIn(by, project, operationReaders);
}
