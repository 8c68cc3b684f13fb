import type { Where } from "#access/principal.ts";
import type { ExecutionFailure } from "#api/execution-failure.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { failureExcerpt } from "#core/failure-excerpt.ts";
import { sourceFileOf } from "#core/source-file-of.ts";
import type { Db } from "#db/db.ts";
import type { ExecutionId } from "#execution/execution.ts";
import { readAction } from "#invocations/pages/read-command.ts";
import { endOfExecutionLog } from "./execution-log.ts";
import { pastActions } from "./past-actions.ts";

const excerptLines = 20;
/** In which the error is looked for, in bytes. */
const endBytes = 64 * 1024;

/** Returns why an execution failed and since when; undefined when there is no such execution. */
export async function executionFailure(
  services: { readonly db: Db; readonly blobsOf: (project: string) => BlobStore },
  id: ExecutionId,
  {
    mayRead,
    mayReadLogs,
  }: { readonly mayRead: (where: Where) => boolean; readonly mayReadLogs: boolean },
): Promise<ExecutionFailure | undefined> {
  const past = await pastActions(services, id, mayRead);
  if (past === undefined) return undefined;
  const { finished, project, actionDigest } = past.view;
  if (finished === undefined) return { failure: null };
  const { outcome, exitCode, message } = finished;
  if (outcome === "succeeded" || outcome === "cancelled") return { failure: null };
  const { command } = await readAction(services.blobsOf(project), actionDigest);
  const end = mayReadLogs ? await endOfExecutionLog(services, past.view, endBytes) : undefined;
  return {
    failure: {
      outcome,
      exitCode: exitCode ?? null,
      message,
      source: sourceFileOf(command?.arguments ?? []) ?? null,
      here: past.here,
      lastPassed: past.lastPassed ?? null,
      firstFailed: past.firstFailed,
      flaky: past.flaky,
      log: end === undefined ? null : failureExcerpt(new TextDecoder().decode(end), excerptLines),
    },
  };
}
