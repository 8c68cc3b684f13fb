import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { silent } from "#execution/execution.fixture.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import {
  Health,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "#proto/grpc/health/v1/health_pb.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { readServerConfig } from "../config.ts";
import { startServer } from "../start-server.ts";
import type { Readiness } from "./judge-readiness.ts";

const top = await mkdtemp(join(tmpdir(), "grange-readiness-"));
afterAll(() => rm(top, { recursive: true }));

async function aServer(name: string, drainMs = 0) {
  const databaseUrl = await freshDatabase();
  const dataDir = join(top, name);
  const server = await startServer(
    readServerConfig({ dataDir, port: 0, databaseUrl, drainMs }, {}),
    silent,
  );
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${server.url}${path}`, { headers });
    return { status: answer.status, body: await answer.text() };
  };
  const read = async () => {
    const { status, body } = await get("/readyz");
    return { status, ...(JSON.parse(body) as Readiness) };
  };
  return { server, dataDir, get, read };
}

test("a server says that it lives and is ready, to everybody and by whatever name", async () => {
  const { server, dataDir, get, read } = await aServer("well");

  expect(await get("/healthz")).toEqual({ status: 200, body: "ok\n" });
  expect(await read()).toMatchObject({ status: 200, ready: true });
  expect((await get("/readyz", { host: "10.1.2.3" })).status).toBe(200);
  expect(await readdir(join(dataDir, "blobs"))).not.toContainEqual(
    expect.stringMatching(/^\.readiness/),
  );
  await server.stop();
});

test("a server whose directory of blobs is gone lives and is not ready; it is again when that is back", async () => {
  const { server, dataDir, get, read } = await aServer("without blobs");
  const { rename } = await import("node:fs/promises");

  await rename(join(dataDir, "blobs"), join(dataDir, "away"));
  await expect.poll(async () => (await read()).status, { timeout: 10_000 }).toBe(503);
  const { checks } = await read();
  expect(checks).toContainEqual({ name: "blobs", ok: false, detail: "a file cannot be written" });
  expect((await get("/healthz")).status).toBe(200);

  await rename(join(dataDir, "away"), join(dataDir, "blobs"));
  await expect.poll(async () => (await read()).status, { timeout: 10_000 }).toBe(200);
  await server.stop();
});

test("a watch over gRPC sends each change, and ends when the server stops", async () => {
  const { server } = await aServer("watched", 300);
  const channel = new GrpcChannel({ url: server.url });
  const watch = channel.serverStream(Health.method.watch, {})[Symbol.asyncIterator]();
  const next = async () => (await watch.next()).value?.status;

  expect(await next()).toBe(ServingStatus.SERVING);
  const startedAt = performance.now();
  const stopped = server.stop();
  expect(await next()).toBe(ServingStatus.NOT_SERVING);
  expect(await channel.unary(Health.method.check, {})).toMatchObject({
    status: ServingStatus.NOT_SERVING,
  });
  expect(await watch.next()).toMatchObject({ done: true });
  await stopped;
  // The grace for running calls, 1.5 s, was not needed.
  expect(performance.now() - startedAt).toBeLessThan(1_500);
  await channel.stop();
});

test("a server that is told to stop goes on for its time, and says that it is not ready", async () => {
  const { server, get, read } = await aServer("drained", 1_500);

  const stopped = server.stop();

  expect(await read()).toMatchObject({ status: 503, ready: false });
  expect((await get("/api/v1/graphs")).status).toBe(200);
  await stopped;
  await expect(get("/healthz")).rejects.toThrow("fetch failed");
});
