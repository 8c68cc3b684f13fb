import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { anyUnpack, durationFromMs } from "@bufbuild/protobuf/wkt";
import { everybody, type Principal } from "#access/principal.ts";
import { domainOfClient } from "#access/trust-domains/domain-of-client.ts";
import { lookUpActionResult } from "#actions/action-cache.ts";
import { keepClientResult } from "#actions/client-results.ts";
import { outputTrees } from "#actions/output-trees.ts";
import { actionCacheService } from "#caches/rev2/action-cache-service.ts";
import { grpcCallers } from "#caches/rev2/caller.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import type { Clock } from "#core/clock.ts";
import { type Digest, emptyDigest } from "#core/digest.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { Db } from "#db/db.ts";
import { aQueue, silent } from "#execution/execution.fixture.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { grpcServer } from "#grpc/server.ts";
import { askingNotes } from "#invocations/asking-notes.ts";
import { operationService } from "#invocations/operation-service.ts";
import type { OperationTimes } from "#invocations/operation-times.ts";
import {
  ActionSchema,
  CommandSchema,
  type ExecuteRequestSchema,
  ExecuteResponseSchema,
  Execution,
  RequestMetadataSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { Operation } from "#proto/google/longrunning/operations_pb.ts";
import { type FinishedSchema, Workers } from "#proto/grange/worker/v1/worker_pb.ts";
import { queueHooks } from "../queue-hooks.ts";
import { executionService } from "./execution-service.ts";
import { methodRights } from "./method-rights.ts";
import { operationsService } from "./operations-service.ts";
import { workersService } from "./workers-service.ts";

type Changes<S extends DescMessage> = Omit<MessageInitShape<S>, "$typeName" | "$unknown">;

/** A server as build tools and workers see it. Its database and store may be shared with other servers. */
export async function rev2Server(parts: {
  readonly db: Db;
  readonly clock: Clock;
  readonly blobs?: BlobStore;
  readonly times?: OperationTimes;
  readonly heartbeatMs?: number;
  readonly identify?: (authorization: string | undefined) => Promise<Principal>;
}) {
  const { db, clock, blobs = memoryBlobStore(), times } = parts;
  const trees = outputTrees(blobs);
  const queue = await aQueue(db, { clock, hooks: queueHooks(() => trees) });
  const operations = await operationService({
    db,
    queue,
    clock,
    logger: silent,
    ...(times === undefined ? {} : { times }),
  });
  const notes = askingNotes({ db, clock, logger: silent });
  const callers = grpcCallers({ identify: parts.identify ?? (async () => everybody) });
  const lookUpResult = async (where: { project: string; domain: TrustDomain }, action: Digest) =>
    (await lookUpActionResult(db, trees, { ...where, actionDigest: action }, "clients too"))
      ?.result;
  const server = grpcServer({
    methods: [
      ...callers.guard(
        [
          ...executionService({
            operations,
            notes,
            blobsOf: () => blobs,
            callers,
            lookUpResult,
            defaultTimeoutMs: 60_000,
            ...(parts.heartbeatMs === undefined ? {} : { heartbeatMs: parts.heartbeatMs }),
          }),
          ...operationsService({ operations, blobsOf: () => blobs, callers }),
          ...actionCacheService({
            blobsFor: () => trees.store,
            notes,
            callers,
            lookUpResult: ({ asking: { project }, caller, actionDigest }) =>
              lookUpResult({ project, domain: domainOfClient(caller, project) }, actionDigest),
            keepResult: ({ asking: { project }, caller, actionDigest }, result) => {
              const domain = domainOfClient(caller, project);
              const principal = caller.name;
              return keepClientResult(db, trees, {
                project,
                domain,
                actionDigest,
                result,
                principal,
              });
            },
          }),
        ],
        methodRights,
      ),
      ...workersService({ queue, blobsOf: () => blobs }),
    ],
    graceMs: 200,
    onClosed: (peer) => notes.closed(peer),
  });
  server.http2.listen(0, "127.0.0.1");
  await once(server.http2, "listening");
  const { port } = server.http2.address() as AddressInfo;
  const channel = new GrpcChannel({ url: `http://127.0.0.1:${port}` });

  return {
    channel,
    blobs,
    trees,
    queue,
    operations,
    notes,

    async put<S extends DescMessage>(schema: S, init: MessageInitShape<S>): Promise<Digest> {
      const bytes = toBinary(schema, create(schema, init));
      const digest = digestOf(bytes);
      await blobs.put(digest, bytes);
      return digest;
    },

    /** A simple action; its script distinguishes it from others. */
    async anAction(
      script: string,
      changes: Changes<typeof ActionSchema> = {},
      command: Changes<typeof CommandSchema> = {},
    ): Promise<Digest> {
      const its = await this.put(CommandSchema, {
        arguments: ["/bin/sh", "-c", script],
        ...command,
      });
      return this.put(ActionSchema, {
        commandDigest: toDigestMessage(its),
        inputRootDigest: toDigestMessage(emptyDigest),
        platform: { properties: [{ name: "OSFamily", value: "linux" }] },
        ...changes,
      });
    },

    /** Executes an action, and returns a stream of the operation's states. End it with `leave`. */
    execute(
      digest: Digest,
      changes: Changes<typeof ExecuteRequestSchema> = {},
      said: MessageInitShape<typeof RequestMetadataSchema> = {},
    ): Stream {
      const leaving = new AbortController();
      return streamOf(
        channel.serverStream(
          Execution.method.execute,
          { actionDigest: toDigestMessage(digest), ...changes },
          { metadata: metadataOf(said), signal: leaving.signal },
        ),
        leaving,
      );
    },

    wait(name: string): Stream {
      const leaving = new AbortController();
      return streamOf(
        channel.serverStream(Execution.method.waitExecution, { name }, { signal: leaving.signal }),
        leaving,
      );
    },

    async stop() {
      await channel.stop();
      await server.stop();
      await operations.stop();
      await notes.stop();
      await queue.stop();
    },
  };
}

export type Rev2Server = Awaited<ReturnType<typeof rev2Server>>;

export function metadataOf(said: MessageInitShape<typeof RequestMetadataSchema>) {
  const bytes = toBinary(RequestMetadataSchema, create(RequestMetadataSchema, said));
  return { "build.bazel.remote.execution.v2.requestmetadata-bin": bytes };
}

/** A stream of operations, one at a time. */
interface Stream {
  next(): Promise<Operation>;
  /** Returns the last state. */
  end(): Promise<Operation>;
  leave(): Promise<void>;
}

function streamOf(source: AsyncIterable<Operation>, leaving: AbortController): Stream {
  const news = source[Symbol.asyncIterator]();
  return {
    async next() {
      const { value, done } = await news.next();
      if (done === true) throw new Error("the stream is over");
      return value;
    },
    async end() {
      let last: Operation | undefined;
      for (let each = await news.next(); each.done !== true; each = await news.next())
        last = each.value;
      if (last === undefined) throw new Error("nothing came");
      return last;
    },
    async leave() {
      leaving.abort();
      await news.next().catch(() => {});
    },
  };
}

export function responseOf(operation: Operation) {
  const response =
    operation.result.case === "response"
      ? anyUnpack(operation.result.value, ExecuteResponseSchema)
      : undefined;
  if (response === undefined) throw new Error(`${operation.name} has no response`);
  return response;
}

const me = { workerName: "w", instanceId: "instance-1" };

/** A worker that the test controls. */
export async function fakeWorker({ channel }: Rev2Server) {
  await channel.unary(Workers.method.register, {
    name: me.workerName,
    instanceId: me.instanceId,
    platform: { OSFamily: "linux" },
    sizeClass: 1,
    slots: 8,
  });
  return {
    /** Starts the next leased execution. */
    async begin(waitMs = 5_000) {
      const wait = durationFromMs(waitMs);
      const { leases } = await channel.unary(Workers.method.claim, { ...me, most: 1, wait });
      const lease = leases[0]?.lease;
      if (lease === undefined) return undefined;
      await channel.unary(Workers.method.started, { lease });
      return {
        lease,
        async end(how: Omit<MessageInitShape<typeof FinishedSchema>, "$typeName">) {
          await channel.unary(Workers.method.finish, { ...me, finished: [{ ...how, lease }] });
        },
      };
    },
    /** Returns the leases of this worker that the server asks it to cancel. */
    async toldToCancel(lease: MessageInitShape<typeof FinishedSchema>["lease"]) {
      const leases = lease === undefined ? [] : [lease];
      const { cancelled } = await channel.unary(Workers.method.heartbeat, { ...me, leases });
      return cancelled.length > 0;
    },
  };
}
