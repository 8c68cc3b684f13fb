import type { Where } from "#access/principal.ts";
import type { ActionComparison, ComparedAction } from "#api/action-comparison.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { parseDigestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import type { ExecutionId } from "#execution/execution.ts";
import { compareActions } from "#invocations/compare/compare-actions.ts";
import { pastActions } from "./past-actions.ts";

/**
 * Compares the action of an execution with that of another one; without another one, with the last one of its kind that
 * succeeded: of the same job on its branch, or of the same target and outputs. Undefined when an execution does not
 * exist.
 */
export async function compareExecutions(
  services: { readonly db: Db; readonly blobsOf: (project: string) => BlobStore },
  id: ExecutionId,
  other: ExecutionId | undefined,
  mayRead: (where: Where) => boolean,
): Promise<ActionComparison | undefined> {
  const past = await pastActions(services, id, mayRead);
  if (past === undefined) return undefined;
  const { here, view, lastPassed } = past;
  let before: ComparedAction | undefined = lastPassed;
  if (other !== undefined) {
    const found = await pastActions(services, other, mayRead);
    if (found === undefined) return undefined;
    if (found.view.project !== view.project) {
      throw new Fault(
        "failed_precondition",
        `execution ${other} belongs to project "${found.view.project}", and this one to "${view.project}": compare executions of one project`,
      );
    }
    before = found.here;
  }
  if (before === undefined) return { after: here, before: null, differences: null };
  const differences = await compareActions(
    services.blobsOf(view.project),
    parseDigestKey(before.actionDigest),
    parseDigestKey(here.actionDigest),
  );
  return { after: here, before, differences };
}
