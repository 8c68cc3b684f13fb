import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { emptyDigest } from "#core/digest.ts";
import { silent } from "#execution/execution.fixture.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { remoteBlobStore } from "#grpc/remote-blob-store.ts";
import {
  ActionSchema,
  CommandSchema,
  Execution,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { FinishResponse_Verdict, Outcome, Workers } from "#proto/grange/worker/v1/worker_pb.ts";
import { freshDatabase } from "../../test/support/fresh-db.ts";
import { readServerConfig } from "./config.ts";
import { type RunningServer, startServer } from "./start-server.ts";

const { register, claim, heartbeat, started, finish, appendLog, release, lookAhead } =
  Workers.method;

let dataDir: string;
let server: RunningServer;
let root: string;
let databaseUrl: string;
const channels: GrpcChannel[] = [];

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "grange-closed-"));
  databaseUrl = await freshDatabase();
  server = await startServer(readServerConfig({ dataDir, port: 0, databaseUrl }, {}), silent);
  root = (await ask<{ token: string }>("/tokens", { principal: "root" })).token;
  await ask("/grants", { principal: "root", verb: "*", top: true });
  await ask("/grants/remove", { principal: "anyone", verb: "*" }, root);
});
afterAll(async () => {
  await Promise.all(channels.map((channel) => channel.stop()));
  await server?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

async function ask<T>(path: string, body?: unknown, token?: string): Promise<T> {
  const response = await fetch(`${server.url.replace(/\/$/, "")}/api/v1${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      "content-type": "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  return JSON.parse(text) as T;
}

function channelOf(token?: string): GrpcChannel {
  const metadata = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const channel = new GrpcChannel({ url: server.url, metadata: () => metadata });
  channels.push(channel);
  return channel;
}

/** A principal with a token and the right to work, and a worker that is not registered yet. */
async function aWorkerOf(principal: string, pool?: string) {
  const { token } = await ask<{ token: string }>("/tokens", { principal, kind: "worker" }, root);
  const narrowed = pool === undefined ? {} : { pool };
  await ask("/grants", { principal, verb: "work", ...narrowed }, root);
  const channel = channelOf(token);
  const name = `${principal}-${randomUUID().slice(0, 8)}`;
  const process = { workerName: name, instanceId: randomUUID() };
  return {
    token,
    channel,
    process,
    register: (platform: Record<string, string> = {}) =>
      channel.unary(register, {
        name,
        instanceId: process.instanceId,
        platform: { OSFamily: "linux", ...platform },
        sizeClass: 1,
        slots: 1,
        version: "0",
        transport: "pull",
      }),
    claim: () => channel.unary(claim, { ...process, most: 1, wait: durationFromMs(10_000) }),
  };
}

/** Has an action executed for a platform that only one worker offers. */
async function execute(only: string): Promise<void> {
  const channel = channelOf(root);
  const blobs = remoteBlobStore(channel, "default");
  const put = async <S extends DescMessage>(schema: S, init: MessageInitShape<S>) => {
    const bytes = toBinary(schema, create(schema, init));
    await blobs.put(digestOf(bytes), bytes);
    return toDigestMessage(digestOf(bytes));
  };
  await blobs.put(emptyDigest, new Uint8Array());
  const commandDigest = await put(CommandSchema, { arguments: ["true", randomUUID()] });
  const actionDigest = await put(ActionSchema, {
    commandDigest,
    inputRootDigest: toDigestMessage(emptyDigest),
    platform: { properties: [{ name: "only", value: only }] },
  });
  const leaving = new AbortController();
  // The operation is sent at once; while a client watches it, the execution is still needed.
  const stream = channel.serverStream(
    Execution.method.execute,
    { actionDigest },
    { signal: leaving.signal },
  );
  const watched = (async () => {
    for await (const _ of stream);
  })().catch(() => {});
  afterAll(async () => {
    leaving.abort();
    await watched;
  });
}

/** Two workers of two principals; the first holds a lease. */
async function twoWorkers() {
  const tag = randomUUID().slice(0, 8);
  const [honest, rogue] = await Promise.all([aWorkerOf(`h-${tag}`), aWorkerOf(`r-${tag}`)]);
  await Promise.all([honest.register({ only: tag }), rogue.register()]);
  await execute(tag);
  const { leases } = await honest.claim();
  const lease = leases[0]?.lease;
  if (lease === undefined) throw new Error("no lease");
  return { honest, rogue, lease, principal: `r-${tag}` };
}

test("a worker without a token is told which grant it lacks", async () => {
  const nobody = channelOf();
  const asking = nobody.unary(register, {
    name: "stranger",
    instanceId: randomUUID(),
    platform: {},
    sizeClass: 1,
    slots: 1,
  });

  await expect(asking).rejects.toMatchObject({
    code: "permission_denied",
    message: expect.stringContaining("grange grant add anyone work --pool POOL"),
  });
});

test("a worker serves the pools of its grant, and no other", async () => {
  const worker = await aWorkerOf("narrow", "ci-*");

  await expect(worker.register()).rejects.toThrow("may not work in the pool default");
  await expect(worker.register({ pool: "release" })).rejects.toThrow("pool release");
  await expect(worker.register({ pool: "ci-linux" })).resolves.toBeDefined();
  await ask("/grants/remove", { principal: "narrow", verb: "work" }, root);
  await expect(worker.claim()).rejects.toThrow("may not work anywhere on this farm");
});

describe("of another's lease, a worker", () => {
  test("ends nothing, prolongs nothing, gives nothing back and writes no log", async () => {
    const { honest, rogue, lease } = await twoWorkers();
    const end = { lease, outcome: Outcome.SUCCEEDED, result: { exitCode: 0 } };

    const verdicts = await rogue.channel.unary(finish, { ...rogue.process, finished: [end] });
    const beaten = await rogue.channel.unary(heartbeat, { ...rogue.process, leases: [lease] });
    const mine = await honest.channel.unary(finish, { ...honest.process, finished: [end] });

    expect(verdicts.verdicts).toEqual([FinishResponse_Verdict.REFUSED]);
    expect(beaten.lost).toMatchObject([{ executionId: lease.executionId }]);
    expect(mine.verdicts).toEqual([FinishResponse_Verdict.PUBLISHED]);
  });

  test("starts nothing either; and the lease stays with who holds it", async () => {
    const { honest, rogue, lease } = await twoWorkers();
    const data = Buffer.from("lies\n");

    const begun = await rogue.channel.unary(started, { lease });
    const logged = await rogue.channel.unary(appendLog, { lease, offset: 0n, data });
    await honest.channel.unary(started, { lease });
    const held = await honest.channel.unary(heartbeat, { ...honest.process, leases: [lease] });

    expect([begun.accepted, logged.accepted]).toEqual([false, false]);
    expect(held.lost).toEqual([]);
  });

  test("is quarantined for the third time, and works again when it is released", async () => {
    const { rogue, lease, principal } = await twoWorkers();
    for (let n = 0; n < 3; n++) await rogue.channel.unary(release, { leases: [lease] });

    const refused = await rogue.claim().catch((reason: Error) => reason.message);
    const listed = await ask<{ principal: string; what: string }[]>("/workers/quarantined");
    const workers = await ask<{ name: string; quarantine: string | null }[]>("/workers");
    const other = await ask<unknown>(`/workers/${rogue.process.workerName}/release`, {}, root);
    const idle = rogue.channel.unary(claim, { ...rogue.process, most: 0 });

    expect(refused).toContain(`\`grange worker release ${principal}\``);
    expect(listed.find((each) => each.principal === principal)?.what).toContain(lease.executionId);
    expect(workers.find(({ name }) => name === rogue.process.workerName)?.quarantine).toContain(
      "another's worker",
    );
    expect(other).toEqual({ principal });
    await expect(idle).resolves.toBeDefined();
  });
});

test("an epoch that nobody was given counts as forged, one that is over does not", async () => {
  const { honest, rogue, lease, principal } = await twoWorkers();
  await honest.channel.unary(release, { leases: [lease] });
  for (let n = 0; n < 5; n++) await honest.channel.unary(started, { lease });
  const forged = { ...lease, epoch: lease.epoch + 7n };
  for (let n = 0; n < 3; n++) await rogue.channel.unary(started, { lease: forged });

  await expect(honest.claim()).resolves.toBeDefined();
  await expect(rogue.claim()).rejects.toThrow("named a lease that nobody was given");
  expect(await ask("/workers/quarantined")).toEqual(
    expect.arrayContaining([expect.objectContaining({ principal, count: 3 })]),
  );
});

test("nobody speaks for another's process, or takes its name", async () => {
  const { honest, rogue } = await twoWorkers();

  await expect(
    rogue.channel.unary(lookAhead, { ...honest.process, most: 1 }),
  ).rejects.toMatchObject({ code: "permission_denied" });
  await expect(
    rogue.channel.unary(register, {
      name: honest.process.workerName,
      instanceId: randomUUID(),
      platform: {},
      sizeClass: 1,
      slots: 1,
    }),
  ).rejects.toMatchObject({ code: "permission_denied" });
});

test("after a restart of the server, a worker's leases are its own still", async () => {
  const { honest, rogue, lease } = await twoWorkers();
  const second = await startServer(
    readServerConfig(
      { dataDir: join(dataDir, "second"), blobs: join(dataDir, "blobs"), port: 0, databaseUrl },
      {},
    ),
    silent,
  );
  const at = (token: string) =>
    new GrpcChannel({
      url: second.url,
      metadata: () => ({ authorization: `Bearer ${token}` }),
    });
  const [mine, others] = [at(honest.token), at(rogue.token)];
  try {
    const stolen = await others.unary(started, { lease });
    const kept = await mine.unary(started, { lease });

    expect([stolen.accepted, kept.accepted]).toEqual([false, true]);
  } finally {
    await Promise.all([mine.stop(), others.stop()]);
    await second.stop();
  }
});
