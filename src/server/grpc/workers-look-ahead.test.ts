import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, expect, test } from "vitest";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { actionDigest, aQueue, aRequest, aWorker } from "#execution/execution.fixture.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { grpcServer } from "#grpc/server.ts";
import {
  ActionSchema,
  DigestFunction_Value,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { Workers } from "#proto/grange/worker/v1/worker_pb.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { workersService } from "./workers-service.ts";

const db = await freshDb();
const blobs = memoryBlobStore();
const queue = await aQueue(db);
const server = grpcServer({ methods: workersService({ queue, blobsOf: () => blobs }) });
server.http2.listen(0, "127.0.0.1");
await once(server.http2, "listening");
const { port } = server.http2.address() as AddressInfo;
const channel = new GrpcChannel({ url: `http://127.0.0.1:${port}` });
afterAll(async () => {
  await channel.stop();
  await server.stop();
  await queue.stop();
  await db.close();
});

test("a worker that looks ahead hears the input roots of what waits, of those that can be read", async () => {
  const worker = aWorker("w");
  await queue.register(worker);
  const inputRoot = digestOf(Buffer.from("a root"));
  const bytes = toBinary(
    ActionSchema,
    create(ActionSchema, { inputRootDigest: toDigestMessage(inputRoot) }),
  );
  await blobs.put(digestOf(bytes), bytes);
  const broken = Buffer.from([255, 255]);
  await blobs.put(digestOf(broken), broken);
  for (const digest of [actionDigest("is gone"), digestOf(broken), digestOf(bytes)])
    await queue.submit(aRequest({ actionDigest: digest }));

  const { ahead } = await channel.unary(Workers.method.lookAhead, {
    workerName: worker.name,
    instanceId: worker.instanceId,
    most: 1_000_000,
  });

  expect(ahead).toMatchObject([
    {
      inputRoot: toDigestMessage(inputRoot),
      project: "p",
      digestFunction: DigestFunction_Value.SHA256,
    },
  ]);
});
