import { once } from "node:events";
import { create } from "@bufbuild/protobuf";
import { expect, onTestFinished, test } from "vitest";
import { methodsOf } from "#grpc/method.ts";
import { grpcServer } from "#grpc/server.ts";
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
  const server = grpcServer({ methods });
  server.http2.listen(0, "127.0.0.1");
  await once(server.http2, "listening");
  const address = server.http2.address();
  const port = typeof address === "object" ? address?.port : 0;
  const connection = grpcFarmConnection({ server: `http://127.0.0.1:${port}`, token: "secret" });
  onTestFinished(async () => {
    await connection.close();
    await server.stop();
  });
  return { farm, connection, tokens };
}

test("speaks to a farm over gRPC, with its token", async () => {
  const { connection, tokens, farm } = await connect();

  await connection.register(create(RegisterRequestSchema, { name: "w1" }));

  expect(farm.registered?.name).toBe("w1");
  expect(tokens).toEqual(["Bearer secret"]);
});

test("gives a waiting claim up when it is told to", async () => {
  const { connection, farm } = await connect();
  const stop = new AbortController();

  const claim = connection.claim(create(ClaimRequestSchema, { most: 1 }), stop.signal);
  await farm.until(() => farm.claims > 0);
  stop.abort();

  await expect(claim).rejects.toMatchObject({ code: "cancelled" });
  expect(await farm.submit({})).toBe("e1");
});
