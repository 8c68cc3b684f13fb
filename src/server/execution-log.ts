import { fromBinary } from "@bufbuild/protobuf";
import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { digestKey, functionOf } from "#core/digest.ts";
import type { Db } from "#db/db.ts";
import type { ExecutionId } from "#execution/execution.ts";
import { type ExecutionView, readExecutions } from "#execution/read-executions.store.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { LogPiece } from "./log-piece.ts";
import { endOfRunLog, evictedLogText, readRunLog } from "./run-log.ts";

/** The streams of an execution. While it runs, a worker that does not separate them sends only one. */
export type LogStream = "stdout" | "stderr";

const noBytes = new Uint8Array();

/** Returns a piece of an execution's log; undefined when the execution is unknown or not in the project `of`. */
export async function readExecutionLog(
  services: { readonly db: Db; readonly blobsOf: (project: string) => BlobStore },
  id: ExecutionId,
  stream: LogStream,
  offset: number,
  most: number,
  of?: string,
): Promise<LogPiece | undefined> {
  const [view] = await readExecutions(services.db, [id]);
  if (view === undefined || (of !== undefined && view.project !== of)) return undefined;
  const result = view.finished?.result ?? null;
  const attempt = Math.max(1, view.attempt);
  if (stream === "stdout") {
    const run = {
      project: view.project,
      executionId: id,
      actionDigest: digestKey(view.actionDigest),
      attempt,
      result: result && new Uint8Array(result),
      cachedFromGraph: null,
      cachedFromJob: null,
    };
    return readRunLog(services, run, offset, most);
  }
  const bytes =
    result === null
      ? noBytes
      : await stderrOf(services.blobsOf(view.project), view, result, offset, most);
  const complete = view.state.kind === "finished" && bytes.length < most;
  return { bytes, nextOffset: offset + bytes.length, complete, attempt };
}

/** Returns the last bytes of what an execution that has ended wrote: to stderr, or if that is empty to stdout. */
export async function endOfExecutionLog(
  services: { readonly db: Db; readonly blobsOf: (project: string) => BlobStore },
  { id, project, actionDigest, attempt, finished }: ExecutionView,
  most: number,
): Promise<Uint8Array> {
  const result = finished?.result === undefined ? null : new Uint8Array(finished.result);
  const size = result === null ? 0 : sizeOfStderr(result);
  if (result !== null && size > 0)
    return stderrOf(
      services.blobsOf(project),
      { actionDigest },
      result,
      Math.max(0, size - most),
      most,
    );
  const run = {
    project,
    executionId: id,
    actionDigest: digestKey(actionDigest),
    attempt: Math.max(1, attempt),
    result,
    cachedFromGraph: null,
    cachedFromJob: null,
  };
  return endOfRunLog(services, run, most);
}

function sizeOfStderr(bytes: Uint8Array): number {
  const { stderrRaw, stderrDigest } = fromBinary(ActionResultSchema, bytes);
  return stderrRaw.length > 0 ? stderrRaw.length : Number(stderrDigest?.sizeBytes ?? 0n);
}

async function stderrOf(
  blobs: BlobStore,
  { actionDigest }: { readonly actionDigest: Parameters<typeof functionOf>[0] },
  result: Uint8Array,
  offset: number,
  most: number,
): Promise<Uint8Array> {
  const { stderrRaw, stderrDigest } = fromBinary(ActionResultSchema, result);
  if (stderrRaw.length > 0) return stderrRaw.subarray(offset, offset + most);
  if (stderrDigest === undefined) return noBytes;
  const digest = fromDigestMessage(stderrDigest, "stderr", functionOf(actionDigest));
  if (offset >= digest.sizeBytes) return noBytes;
  const kept = await blobs.read(digest, { offset, limit: most });
  if (kept === undefined) return evictedLogText.subarray(offset, offset + most);
  const parts: Uint8Array[] = [];
  for await (const part of kept) parts.push(part);
  return Buffer.concat(parts);
}
