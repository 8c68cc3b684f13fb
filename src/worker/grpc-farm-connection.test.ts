import { EventEmitter, once } from "node:events";
import { create } from "@bufbuild/protobuf";
import { expect, onTestFinished, test } from "vitest";
import type { Digest } from "#core/digest.ts";
import { methodsOf } from "#grpc/method.ts";
import { grpcServer } from "#grpc/server.ts";
import { ByteStream } from "#proto/google/bytestream/bytestream_pb.ts";
import {
  ClaimRequestSchema,
  RegisterRequestSchema,
  Workers,
} from "#proto/grange/worker/v1/worker_pb.ts";
import { FakeFarm } from "./fake-farm.fixture.ts";
import { grpcFarmConnection } from "./grpc-farm-connection.ts";

async function connect() {
  const farm = new FakeFarm();
  const tokens: unknown[] = [];
  const methods = methodsOf(Workers, {
    register: (request, context) => {
      tokens.push(context.metadata["authorization"]);
      return farm.register(request);
    },
    claim: (request, context) => farm.claim(request, context.signal),
  });
  const uploads = new EventEmitter();
  const bytes = methodsOf(ByteStream, {
    // Reads none of the data that it receives.
    write(_requests, context) {
      context.signal.addEventListener("abort", () => uploads.emit("aborted"));
      uploads.emit("begun");
      return new Promise(() => {});
    },
  });
  const server = grpcServer({ methods: [...methods, ...bytes] });
  server.http2.listen(0, "127.0.0.1");
  await once(server.http2, "listening");
  const address = server.http2.address();
  const port = typeof address === "object" ? address?.port : 0;
  const connection = grpcFarmConnection({ server: `http://127.0.0.1:${port}`, token: "secret" });
  onTestFinished(async () => {
    await connection.close();
    await server.stop();
  });
  return { farm, connection, tokens, uploads };
}

test("calls a farm over gRPC, with its token", async () => {
  const { connection, tokens, farm } = await connect();

  await connection.register(create(RegisterRequestSchema, { name: "w1" }));

  expect(farm.registered?.name).toBe("w1");
  expect(tokens).toEqual(["Bearer secret"]);
});

test("aborts an upload, even if the farm reads nothing", async () => {
  const { connection, uploads } = await connect();
  const stop = new AbortController();
  const digest = { hash: "a".repeat(64), sizeBytes: 1e12 } as Digest;
  async function* withoutEnd() {
    for (;;) yield Buffer.alloc(1_000_000);
  }

  const begun = once(uploads, "begun");
  const aborted = once(uploads, "aborted");
  const upload = connection.blobs("p").write(digest, withoutEnd(), stop.signal);
  await Promise.race([begun, upload]);
  stop.abort("cancelled");

  await expect(upload).rejects.toMatchObject({ code: "cancelled" });
  await aborted;
});

test("aborts a waiting claim", async () => {
  const { connection, farm } = await connect();
  const stop = new AbortController();

  const claim = connection.claim(create(ClaimRequestSchema, { most: 1 }), stop.signal);
  await farm.until(() => farm.claims > 0);
  stop.abort();

  await expect(claim).rejects.toMatchObject({ code: "cancelled" });
  expect(await farm.submit({})).toBe("e1");
});
