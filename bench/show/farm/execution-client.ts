import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { emptyDigest } from "#core/digest.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { remoteBlobStore } from "#grpc/remote-blob-store.ts";
import {
  ActionSchema,
  CommandSchema,
  type ExecuteResponse,
  ExecuteResponseSchema,
  Execution,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/** A build tool's view of the farm: uploads an action, executes it, and reads the times. */
export interface ExecutionClient {
  /** Uploads a new no-op action; the returned function executes it. */
  prepare(): Promise<() => Promise<Executed>>;
  close(): Promise<void>;
}

export interface Executed {
  readonly exitCode: number;
  /** From the Execute call to the worker that started it. */
  readonly takenUpMs: number;
  /** From the Execute call to the start of the action's process. */
  readonly startedMs: number;
  /** From the Execute call to its answer. */
  readonly answeredMs: number;
  /** The duration of the process itself, including its sandbox. */
  readonly processMs: number;
}

export function executionClient(url: string): ExecutionClient {
  const channel = new GrpcChannel({ url });
  const blobs = remoteBlobStore(channel, "");
  const command = toBinary(
    CommandSchema,
    create(CommandSchema, { arguments: ["true"], environmentVariables: [] }),
  );
  let made = 0;

  return {
    async prepare() {
      const action = toBinary(
        ActionSchema,
        create(ActionSchema, {
          commandDigest: toDigestMessage(digestOf(command)),
          inputRootDigest: toDigestMessage(emptyDigest),
          // Makes it unique, so that it is neither joined nor cached.
          salt: Buffer.from(`no-op ${process.pid} ${Date.now()} ${made++}`),
        }),
      );
      const actionDigest = digestOf(action);
      await blobs.put(digestOf(command), command);
      await blobs.put(actionDigest, action);
      return async () => {
        // Workers use the machine's clock, which is the same one on this machine.
        const asked = performance.timeOrigin + performance.now();
        let response: ExecuteResponse | undefined;
        for await (const operation of channel.serverStream(Execution.method.execute, {
          actionDigest: toDigestMessage(actionDigest),
          skipCacheLookup: true,
        })) {
          if (operation.done && operation.result.case === "response") {
            response = fromBinary(ExecuteResponseSchema, operation.result.value.value);
          }
        }
        const metadata = response?.result?.executionMetadata;
        if (response?.result === undefined || metadata === undefined) {
          throw new Error(`no result: ${JSON.stringify(response?.status?.message)}`);
        }
        const since = (at: typeof metadata.workerStartTimestamp) =>
          at === undefined ? Number.NaN : preciseMs(at) - asked;
        const started = since(metadata.executionStartTimestamp);
        return {
          exitCode: response.result.exitCode,
          takenUpMs: since(metadata.workerStartTimestamp),
          startedMs: started,
          processMs: since(metadata.executionCompletedTimestamp) - started,
          answeredMs: performance.timeOrigin + performance.now() - asked,
        };
      };
    },
    close: () => channel.stop(),
  };
}

function preciseMs(at: Timestamp): number {
  return timestampMs(at) + (at.nanos % 1e6) / 1e6;
}
