import { create, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs, durationMs, timestampDate } from "@bufbuild/protobuf/wkt";
import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage, functionValueOf, toDigestMessage } from "#cas/digest-message.ts";
import { type Digest, functionOf } from "#core/digest.ts";
import { messageOf } from "#core/fault.ts";
import type { ExecutionQueue } from "#execution/execution-queue.ts";
import type { LeasedExecution, WorkerProcess } from "#execution/lease.ts";
import type { AheadExecution } from "#execution/look-ahead-desk.ts";
import { type Method, methodsOf } from "#grpc/method.ts";
import { ActionSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import {
  type AheadSchema,
  FinishResponse_Verdict,
  HeartbeatResponseSchema,
  Workers,
  type WorkSchema,
} from "#proto/grange/worker/v1/worker_pb.ts";
import {
  InstanceId,
  leaseFrom,
  leaseMessage,
  parsed,
  reportFrom,
  WorkerName,
  workerFrom,
} from "./workers-service-messages.ts";

/** Below what gRPC clients take in one message; a worker that gets less asks again at once. */
const mostBytesPerAnswer = 3 * 1024 * 1024;
/** Longer waits would outlive the patience of proxies on the way. */
const longestWaitMs = 60_000;
/** Leases handed out at once; what a worker prefetches. */
const mostLeases = 512;

/** What one worker is told of what it may be given. */
const mostAhead = 16;

type Work = MessageInitShape<typeof WorkSchema>;

/** What workers call. The queue decides; this translates, and adds the bytes of Action and Command. */
export function workersService(parts: {
  readonly queue: ExecutionQueue;
  readonly blobs: BlobStore;
}): Method[] {
  const { queue } = parts;
  return methodsOf(Workers, {
    async register(request) {
      const leaseMs = await queue.register(workerFrom(request));
      return {
        heartbeatInterval: durationFromMs(queue.times.heartbeatMs),
        leaseDuration: durationFromMs(leaseMs),
      };
    },

    async claim(request, { signal }) {
      const waitMs = request.wait === undefined ? 0 : durationMs(request.wait);
      const leased = await queue.claim(
        processFrom(request),
        Math.min(request.most, mostLeases),
        Math.min(Math.max(waitMs, 0), longestWaitMs),
        signal,
      );
      return { leases: await prepareWork(leased, parts) };
    },

    async lookAhead(request) {
      const most = Math.min(Math.max(request.most, 0), mostAhead);
      const waiting = await queue.lookAhead(processFrom(request), most);
      const ahead = await Promise.all(waiting.map((each) => inputRootOf(each, parts.blobs)));
      return { ahead: ahead.flatMap((each) => each ?? []) };
    },

    async heartbeat(request) {
      const answer = await queue.heartbeat({
        worker: processFrom(request),
        leases: request.leases.map(leaseFrom),
        draining: request.draining,
      });
      return create(HeartbeatResponseSchema, {
        lost: answer.lost.map(leaseMessage),
        cancelled: answer.cancelled.map(leaseMessage),
        unknownWorker: answer.isUnknown,
      });
    },

    async started(request) {
      const at = request.at === undefined ? new Date() : timestampDate(request.at);
      return { accepted: await queue.started(leaseFrom(request.lease), at) };
    },

    async release(request) {
      await queue.release(request.leases.map(leaseFrom));
      return {};
    },

    async finish(request) {
      const { name } = processFrom(request);
      const reports = request.finished.map((finished) => reportFrom(finished, name));
      const verdicts = await Promise.all(reports.map((report) => queue.finish(report)));
      return {
        verdicts: verdicts.map((verdict) =>
          verdict === "accepted"
            ? FinishResponse_Verdict.PUBLISHED
            : FinishResponse_Verdict.REFUSED,
        ),
      };
    },

    async appendLog(request) {
      const appended = await queue.appendLog({
        lease: leaseFrom(request.lease),
        offset: Number(request.offset),
        bytes: request.data,
      });
      return appended === undefined
        ? { accepted: false, nextOffset: request.offset }
        : { accepted: appended.accepted, nextOffset: BigInt(appended.nextOffset) };
    },
  });
}

function processFrom(request: {
  readonly workerName: string;
  readonly instanceId: string;
}): WorkerProcess {
  return {
    name: parsed(WorkerName, request.workerName),
    instanceId: parsed(InstanceId, request.instanceId),
  };
}

/** The input root of what waits; undefined where its Action cannot be read, which is for its claim to say. */
async function inputRootOf(
  { project, actionDigest }: AheadExecution,
  blobs: BlobStore,
): Promise<MessageInitShape<typeof AheadSchema> | undefined> {
  const bytes = await blobs.get(actionDigest);
  if (bytes === undefined) return undefined;
  try {
    const { inputRootDigest } = fromBinary(ActionSchema, bytes);
    if (inputRootDigest === undefined) return undefined;
    return {
      inputRoot: inputRootDigest,
      project,
      digestFunction: functionValueOf(actionDigest),
    };
  } catch {
    return undefined;
  }
}

/**
 * Adds Action and Command to what was leased.
 *
 * An execution whose Action or Command is gone ends here: no worker could run it. What does
 * not fit into the answer goes back to the queue, as not begun.
 */
async function prepareWork(
  leased: readonly LeasedExecution[],
  { queue, blobs }: { readonly queue: ExecutionQueue; readonly blobs: BlobStore },
): Promise<Work[]> {
  const read = await Promise.all(
    leased.map(async (each) => ({ each, found: await actionAndCommand(each, blobs) })),
  );
  const work: Work[] = [];
  let room = mostBytesPerAnswer;
  for (const { each, found } of read) {
    if (found.kind === "missing") {
      await queue.finish({
        lease: each.lease,
        outcome: "failed",
        missingInputs: found.missing,
        message: "its action or command is not in the store",
      });
    } else if (found.kind === "unreadable") {
      await queue.finish({ lease: each.lease, outcome: "failed", message: found.message });
    } else {
      const size = found.action.byteLength + found.command.byteLength + 256;
      if (work.length > 0 && size > room) await queue.release([each.lease]);
      else {
        room -= size;
        work.push({
          lease: leaseMessage(each.lease),
          actionDigest: toDigestMessage(each.actionDigest),
          digestFunction: functionValueOf(each.actionDigest),
          action: found.action,
          command: found.command,
          timeout: durationFromMs(each.timeoutMs),
          project: each.project,
        });
      }
    }
  }
  return work;
}

type ReadAction =
  | { readonly kind: "read"; readonly action: Uint8Array; readonly command: Uint8Array }
  | { readonly kind: "missing"; readonly missing: readonly Digest[] }
  | { readonly kind: "unreadable"; readonly message: string };

async function actionAndCommand(
  { actionDigest }: LeasedExecution,
  blobs: BlobStore,
): Promise<ReadAction> {
  const action = await blobs.get(actionDigest);
  if (action === undefined) return { kind: "missing", missing: [actionDigest] };
  let commandDigest: Digest;
  try {
    const { commandDigest: message } = fromBinary(ActionSchema, action);
    commandDigest = fromDigestMessage(message, "its command", functionOf(actionDigest));
  } catch (reason) {
    return { kind: "unreadable", message: `its action cannot be read: ${messageOf(reason)}` };
  }
  const command = await blobs.get(commandDigest);
  if (command === undefined) return { kind: "missing", missing: [commandDigest] };
  return { kind: "read", action, command };
}
