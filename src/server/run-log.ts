import { fromBinary } from "@bufbuild/protobuf";
import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { type DigestFunction, functionOf, parseDigestKey } from "#core/digest.ts";
import type { Db } from "#db/db.ts";
import type { ExecutionId } from "#execution/execution.ts";
import { readLog } from "#execution/logs/log.store.ts";
import { readExecutions } from "#execution/read-executions.store.ts";
import type { RunOutput } from "#graphs/job-detail.store.ts";
import {
  type ActionResult,
  ActionResultSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { LogPiece } from "./log-piece.ts";

interface RunLogServices {
  readonly db: Db;
  readonly blobsOf: (project: string) => BlobStore;
}

/**
 * Returns a piece of a run's log from the place where the log is stored now.
 *
 * While an attempt runs, its log is in tables of the queue; once there is a result, the log is the blob that the result
 * names. Both have the same bytes at the same offsets, so a reader does not notice the change. When the blob was
 * removed, the function returns what the tables have, or else a line that says that the log is gone.
 */
export async function readRunLog(
  services: RunLogServices,
  run: RunOutput,
  offset: number,
  most: number,
): Promise<LogPiece> {
  if (run.result !== null) {
    const kept = await stdoutOf(
      services.blobsOf(run.project),
      fromBinary(ActionResultSchema, run.result),
      run.actionDigest === null ? "sha256" : functionOf(parseDigestKey(run.actionDigest)),
      offset,
      most,
    );
    if (kept !== undefined) {
      return {
        bytes: kept,
        nextOffset: offset + kept.length,
        complete: kept.length < most,
        attempt: run.attempt,
      };
    }
  }
  const live = await readLiveLog(services.db, run.executionId, offset, most);
  if (live !== undefined && (run.result === null || live.bytes.length > 0 || !live.complete))
    return live;
  // The blob is gone. The tables may hold the log still: then this is its end.
  const first = offset > 0 ? await readLiveLog(services.db, run.executionId, 0, 1) : undefined;
  if (live !== undefined && first !== undefined && first.bytes.length > 0) return live;
  const bytes = (run.result === null ? noBytes : evictedLogText).subarray(offset, offset + most);
  const nextOffset = offset + bytes.length;
  return { bytes, nextOffset, complete: bytes.length < most, attempt: run.attempt };
}

/** Returns the last bytes of the log of a run that has ended. */
export async function endOfRunLog(
  services: RunLogServices,
  run: RunOutput,
  most: number,
): Promise<Uint8Array> {
  const size = run.result === null ? undefined : sizeOfStdout(run.result);
  if (size !== undefined) {
    return (await readRunLog(services, run, Math.max(0, size - most), most)).bytes;
  }
  // Without a result, only the tables of the queue know the log; it is read from its beginning.
  let end: Uint8Array = noBytes;
  for (let offset = 0; ; ) {
    const piece = await readRunLog(services, run, offset, mostLiveBytes);
    if (piece.bytes.length === 0) return end;
    end = Buffer.concat([end, piece.bytes]).subarray(-most);
    offset = piece.nextOffset;
  }
}

/** A log from this size on takes noticeable time to verify, in bytes: 2 ms for each MiB. */
const longLogBytes = 4 * 1024 * 1024;

/**
 * Begins to verify a long log that a page will request next: the store verifies a blob as a whole before it answers the
 * first part of it.
 */
export async function prepareRunLog(services: RunLogServices, run: RunOutput): Promise<void> {
  if (run.result === null || sizeOfStdout(run.result) < longLogBytes) return;
  await readRunLog(services, run, 0, 1);
}

/** The size of a piece of a log without a result, in bytes. */
const mostLiveBytes = 4 * 1024 * 1024;

function sizeOfStdout(bytes: Uint8Array): number {
  const { stdoutRaw, stdoutDigest } = fromBinary(ActionResultSchema, bytes);
  return stdoutRaw.length > 0 ? stdoutRaw.length : Number(stdoutDigest?.sizeBytes ?? 0n);
}

const noBytes = new Uint8Array();

/** The text in place of a log that was evicted. */
export const evictedLogText = new TextEncoder().encode(
  "[grange: this log was deleted; a new run writes a new log]\n",
);

async function readLiveLog(
  db: Db,
  executionId: ExecutionId | null,
  offset: number,
  most: number,
): Promise<LogPiece | undefined> {
  if (executionId === null) return undefined;
  const [execution] = await readExecutions(db, [executionId]);
  if (execution === undefined) return undefined;
  // Between two attempts, the log of the last one is shown.
  const attempt = Math.max(1, execution.attempt);
  const part = await readLog(db, { executionId, attempt }, offset, most);
  const bytes = part?.bytes ?? noBytes;
  return {
    bytes,
    nextOffset: offset + bytes.length,
    complete: execution.state.kind === "finished" && part?.mayHaveMore !== true,
    attempt,
  };
}

/** Undefined when the blob was removed. */
async function stdoutOf(
  blobs: BlobStore,
  result: ActionResult,
  by: DigestFunction,
  offset: number,
  most: number,
): Promise<Uint8Array | undefined> {
  if (result.stdoutRaw.length > 0) return result.stdoutRaw.subarray(offset, offset + most);
  if (result.stdoutDigest === undefined) return noBytes;
  const digest = fromDigestMessage(result.stdoutDigest, "the log", by);
  // The reader's offset may come from a longer log of an earlier attempt: the attempt number shows this.
  if (offset >= digest.sizeBytes) return noBytes;
  const chunks = await blobs.read(digest, { offset, limit: most });
  if (chunks === undefined) return undefined;
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}
