import { randomUUID } from "node:crypto";
import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { expect, onTestFinished, test } from "vitest";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { emptyDigest } from "#core/digest.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { remoteBlobStore } from "#grpc/remote-blob-store.ts";
import {
  ActionSchema,
  CommandSchema,
  ExecuteResponseSchema,
  Execution,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { startFarm } from "../support/farm.ts";

test("after kill -9 of the server, a build tool continues with its operation", async () => {
  const farm = await startFarm({ workers: 0 });
  onTestFinished(() => farm.stop());
  const before = new GrpcChannel({ url: farm.url });
  const blobs = remoteBlobStore(before, "");
  const put = async <S extends DescMessage>(schema: S, init: MessageInitShape<S>) => {
    const bytes = toBinary(schema, create(schema, init));
    await blobs.put(digestOf(bytes), bytes);
    return toDigestMessage(digestOf(bytes));
  };
  const actionDigest = await put(ActionSchema, {
    commandDigest: await put(CommandSchema, {
      arguments: ["/bin/sh", "-c", `echo made # ${randomUUID()}`],
    }),
    inputRootDigest: toDigestMessage(emptyDigest),
  });
  const stream = before.serverStream(Execution.method.execute, { actionDigest });
  const told = await stream[Symbol.asyncIterator]().next();
  const name = told.done === true ? "" : told.value.name;

  farm.server.signal("SIGKILL");
  await before.stop();
  await farm.restartServer();
  const after = new GrpcChannel({ url: farm.url });
  farm.startWorker();
  let done: Uint8Array | undefined;
  for await (const operation of after.serverStream(Execution.method.waitExecution, { name })) {
    expect(operation.name).toBe(name);
    if (operation.result.case !== "response") continue;
    done = anyUnpack(operation.result.value, ExecuteResponseSchema)?.result?.stdoutRaw;
  }
  await after.stop();

  expect(done).toBeDefined();
});
