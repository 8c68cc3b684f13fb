import { create, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs, durationMs, timestampDate } from "@bufbuild/protobuf/wkt";
import { imageOfResult } from "#actions/image-of-result.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { functionValueOf } from "#cas/digest-message.ts";
import { keepableText } from "#core/keepable-text.ts";
import type { AheadExecution } from "#execution/claiming/look-ahead-service.ts";
import type { ExecutionQueue } from "#execution/execution-queue.ts";
import type { Lease, WorkerProcess } from "#execution/leasing/lease.ts";
import type { CallContext } from "#grpc/call-context.ts";
import { type Method, methodsOf, pathOf } from "#grpc/method.ts";
import { ActionSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import {
  type AheadSchema,
  FinishResponse_Verdict,
  HeartbeatResponseSchema,
  Workers,
} from "#proto/grange/worker/v1/worker_pb.ts";
import type { JobTokens } from "../job-tokens.ts";
import type { ExecutionSpans } from "../tracing/execution-spans.ts";
import { prepareWork, type SecretsForWorkers } from "./prepare-work.ts";
import { openGate, type WorkerGate } from "./worker-gate.ts";
import {
  ImageKeys,
  InstanceId,
  leaseFrom,
  leaseMessage,
  parsed,
  reportFrom,
  WorkerName,
  workerFrom,
} from "./workers-service-messages.ts";

/** Proxies between worker and server may end calls that wait longer, in ms. */
const longestWaitMs = 60_000;
/** The most leases in one answer, which a worker may prefetch. */
const mostLeases = 512;

/** The most characters of the reason why a worker can run nothing; a limit of the table. */
const mostTrouble = 1_000;

/** The most executions in one answer of `lookAhead`. */
const mostAhead = 16;

/** Returns the gRPC methods of workers. The queue decides; this file translates messages, and adds the bytes of Action and Command. */
export function workersService(parts: {
  readonly queue: ExecutionQueue;
  readonly blobsOf: (project: string) => BlobStore;
  readonly secrets?: SecretsForWorkers | undefined;
  /** The tokens of runs; when absent, runs get none. */
  readonly tokens?: Pick<JobTokens, "tokenFor"> | undefined;
  /** When absent, no rights are checked. */
  readonly gate?: WorkerGate;
  /** Called for each accepted result, with how long it waited for its images. */
  readonly pulled?: (ms: number) => void;
  /** Undefined without tracing. */
  readonly spans?: ExecutionSpans | undefined;
}): Method[] {
  const { queue, gate = openGate, pulled, spans } = parts;
  const ofWorkers = methodsOf(Workers, {
    async register(request, context) {
      const worker = await gate.admit(context, workerFrom(request));
      const leaseMs = await queue.register(worker);
      gate.admitted(worker);
      return {
        heartbeatInterval: durationFromMs(queue.times.heartbeatMs),
        leaseDuration: durationFromMs(leaseMs),
      };
    },

    async claim(request, context) {
      const process = processFrom(request);
      await gate.requireProcess(context, process);
      const waitMs = request.wait === undefined ? 0 : durationMs(request.wait);
      const leased = await queue.claim(
        process,
        Math.min(request.most, mostLeases),
        Math.min(Math.max(waitMs, 0), longestWaitMs),
        context.signal,
      );
      const claimed = spans?.claimed(leased);
      const leases = leased.map(({ lease }) => lease);
      try {
        await gate.handedOut(context, leases);
      } catch (reason) {
        await queue.release(leases);
        throw reason;
      }
      const work = await prepareWork(leased, parts, context.isPrivate);
      return { leases: claimed === undefined ? work : await claimed.withTraceparents(work) };
    },

    async lookAhead(request, context) {
      const process = processFrom(request);
      await gate.requireProcess(context, process);
      const most = Math.min(Math.max(request.most, 0), mostAhead);
      const waiting = await queue.lookAhead(process, most);
      const ahead = await Promise.all(waiting.map((each) => inputRootOf(each, parts.blobsOf)));
      return { ahead: ahead.flatMap((each) => each ?? []) };
    },

    async heartbeat(request, context) {
      const worker = processFrom(request);
      await gate.requireProcess(context, worker);
      const leases = request.leases.map(leaseFrom);
      const { own, others } = await byOwner(gate, context, worker.name, leases);
      const { draining } = request;
      const trouble = keepableText(request.trouble, mostTrouble) || undefined;
      const images = request.images && parsed(ImageKeys, request.images.keys);
      const answer = await queue.heartbeat({ worker, leases: own, draining, trouble, images });
      return create(HeartbeatResponseSchema, {
        lost: [...answer.lost, ...others].map(leaseMessage),
        cancelled: answer.cancelled.map(leaseMessage),
        unknownWorker: answer.isUnknown,
      });
    },

    async finish(request, context) {
      const process = processFrom(request);
      const { name } = process;
      const reportedAt = spans && new Date();
      await gate.requireProcess(context, process);
      const reports = request.finished.map((finished) => reportFrom(finished, name));
      const areOwn = await gate.areHis(
        context,
        name,
        reports.map(({ lease }) => lease),
      );
      const verdicts = await Promise.all(
        reports.map(async (report, index) =>
          areOwn[index] === true
            ? queue.finish({ ...report, by: process, reportedAt })
            : ("refused" as const),
        ),
      );
      for (const [index, { result }] of request.finished.entries()) {
        if (verdicts[index] === "accepted" && result !== undefined)
          pulled?.(imageOfResult(result)?.pulledMs ?? 0);
      }
      return {
        verdicts: verdicts.map((verdict) => verdictMessages[verdict]),
      };
    },
  });
  const all = [...ofWorkers, ...cancellationMethods(queue, gate), ...leaseMethods(queue, gate)];
  return all.map((method) => ({ ...method, isBackground: madeWhileIdle.has(method.path) }));
}

/**
 * The calls of idle workers whose answers nobody waits for. If they counted as short work, uploads and other long work
 * would have a quarter of the event loop at a server with some hundreds of idle workers.
 *
 * Claims are not among them, although idle workers make one every 20 s: a build waits for those that are answered with
 * work. Without them, a thousand small calls of another connection slowed a build by 1.4 to 1.5 times in place of 1.3.
 */
const { heartbeat, cancellations } = Workers.method;
const madeWhileIdle: ReadonlySet<string> = new Set([heartbeat, cancellations].map(pathOf));

const verdictMessages = {
  accepted: FinishResponse_Verdict.PUBLISHED,
  refused: FinishResponse_Verdict.REFUSED,
} as const;

/** Returns the method by which a worker waits for cancellations of its work. */
function cancellationMethods(queue: ExecutionQueue, gate: WorkerGate): Method[] {
  return methodsOf(Workers, {
    async cancellations(request, context) {
      const process = processFrom(request);
      await gate.requireProcess(context, process);
      const waitMs = request.wait === undefined ? 0 : durationMs(request.wait);
      const leases = await queue.cancellations(
        process,
        // The queue ignores leases of other processes.
        request.confirmed.slice(0, mostLeases).map(leaseFrom),
        Math.min(Math.max(waitMs, 0), longestWaitMs),
        context.signal,
      );
      return { leases: leases.map(leaseMessage) };
    },
  });
}

/** Returns the methods that name a lease but not the calling worker. */
function leaseMethods(queue: ExecutionQueue, gate: WorkerGate): Method[] {
  return methodsOf(Workers, {
    async started(request, context) {
      const at = request.at === undefined ? new Date() : timestampDate(request.at);
      const lease = leaseFrom(request.lease);
      const [isOwn] = await gate.areHis(context, unnamed, [lease]);
      return { accepted: isOwn === true && (await queue.started(lease, at)) };
    },

    async release(request, context) {
      const { own } = await byOwner(gate, context, unnamed, request.leases.map(leaseFrom));
      await queue.release(own);
      return {};
    },

    async appendLog(request, context) {
      const lease = leaseFrom(request.lease);
      const [isOwn] = await gate.areHis(context, unnamed, [lease]);
      const offset = Number(request.offset);
      const appended =
        isOwn === true ? await queue.appendLog({ lease, offset, bytes: request.data }) : undefined;
      return appended === undefined
        ? { accepted: false, nextOffset: request.offset }
        : { accepted: appended.accepted, nextOffset: BigInt(appended.nextOffset) };
    },
  });
}

/** Divides leases into those that the calling worker holds and those of others. */
async function byOwner(
  gate: WorkerGate,
  context: CallContext,
  worker: string,
  leases: readonly Lease[],
) {
  const areOwn = await gate.areHis(context, worker, leases);
  return {
    own: leases.filter((_, index) => areOwn[index] === true),
    others: leases.filter((_, index) => areOwn[index] !== true),
  };
}

/** The worker's name in calls that name only a lease. */
const unnamed = "";

function processFrom(request: {
  readonly workerName: string;
  readonly instanceId: string;
}): WorkerProcess {
  return {
    name: parsed(WorkerName, request.workerName),
    instanceId: parsed(InstanceId, request.instanceId),
  };
}

/** Returns the input root of a waiting execution; undefined when its Action cannot be read, which its claim reports. */
async function inputRootOf(
  { project, actionDigest }: AheadExecution,
  blobsOf: (project: string) => BlobStore,
): Promise<MessageInitShape<typeof AheadSchema> | undefined> {
  const bytes = await blobsOf(project).get(actionDigest);
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
