import { randomBytes } from "node:crypto";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { saveActionResult } from "#actions/action-result.store.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import type { Digest } from "#core/digest.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import {
  type ActionResult,
  ActionResultSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { type ServedCaches, send, serveCaches } from "./caches.fixture.ts";

const db = await freshDb();
let served: ServedCaches;

beforeEach(async () => {
  served = await serveCaches(db);
});
afterEach(() => served.stop());
afterAll(() => db.close());

const ask = (method: string, path: string, body?: Uint8Array, headers = {}) =>
  send(served.url, method, `/cache/p/bazel${path}`, body === undefined ? {} : { body, headers });

function resultWith(file: Uint8Array): ActionResult {
  const digest = toDigestMessage(digestOf(file));
  return create(ActionResultSchema, { outputFiles: [{ path: "out/file", digest }] });
}

test.each([
  ["a small blob", 100],
  ["a large blob", 3_000_000],
  ["no bytes", 0],
])("%s is one of the store that gRPC serves, and the other way round", async (_, size) => {
  const put = randomBytes(size);
  const streamed = randomBytes(size);
  const byGrpc = randomBytes(size);
  await served.blobs.put(digestOf(byGrpc), byGrpc);

  await ask("PUT", `/cas/${digestOf(put).hash}`, put);
  await ask("PUT", `/cas/${digestOf(streamed).hash}`, streamed, { "transfer-encoding": "chunked" });

  expect(await served.blobs.findMissing([digestOf(put), digestOf(streamed)])).toEqual([]);
  const got = await ask("GET", `/cas/${digestOf(byGrpc).hash}`);
  expect([got.status, got.body.equals(byGrpc)]).toEqual([200, true]);
});

test.each([
  ["whose length is known", {}],
  ["in chunks", { "transfer-encoding": "chunked" }],
])(
  "a blob %s that is not what its hash says is refused, and not kept under it",
  async (_, headers) => {
    const { hash } = digestOf(randomBytes(10));

    const put = await ask("PUT", `/cas/${hash}`, randomBytes(700_000), headers);

    expect(put.status).toBe(400);
    expect((await ask("GET", `/cas/${hash}`)).status).toBe(404);
  },
);

test("a result is given while its blobs are there, and is none when one is gone", async () => {
  const file = randomBytes(50);
  const path = `/ac/${digestOf(randomBytes(8)).hash}`;
  await served.blobs.put(digestOf(file), file);
  await ask("PUT", path, toBinary(ActionResultSchema, resultWith(file)));

  const complete = await ask("GET", path);
  await served.disk.remove(digestOf(file));
  const torn = await ask("GET", path);

  expect(complete.status).toBe(200);
  expect(fromBinary(ActionResultSchema, complete.body)).toEqual(resultWith(file));
  expect(torn.status).toBe(404);
});

test.each([
  ["text", Buffer.from("not a message, but ccache's own")],
  ["JSON", Buffer.from('{"outputs": []}')],
  ["nothing", Buffer.alloc(0)],
  ["random bytes", randomBytes(5_000)],
])("%s in place of a result comes back as it was", async (_, bytes) => {
  const path = `/ac/${digestOf(randomBytes(8)).hash}`;

  await ask("PUT", path, bytes);

  expect((await ask("GET", path)).body.equals(bytes)).toBe(true);
});

test("a result that a worker has made is given over HTTP, too, in its project alone", async () => {
  const file = randomBytes(50);
  const actionDigest = digestOf(randomBytes(123));
  await served.blobs.put(digestOf(file), file);
  await saveActionResult(db, {
    project: "p",
    domain: protectedDomain,
    actionDigest,
    result: toBinary(ActionResultSchema, resultWith(file)),
    executionId: "00000000-0000-4000-8000-000000000001",
    attempt: 1,
  });

  const given = await ask("GET", `/ac/${actionDigest.hash}`);
  const elsewhere = await send(served.url, "GET", `/cache/q/bazel/ac/${actionDigest.hash}`);
  await served.disk.remove(digestOf(file));
  const torn = await ask("GET", `/ac/${actionDigest.hash}`);

  expect(fromBinary(ActionResultSchema, given.body)).toEqual(resultWith(file));
  expect([elsewhere.status, torn.status]).toEqual([404, 404]);
});

describe("a result that was put over HTTP, asked for by gRPC", () => {
  const actionOf = (size: number) => digestOf(randomBytes(size));
  const putAs = (action: Digest, bytes: Uint8Array) => ask("PUT", `/ac/${action.hash}`, bytes);

  test("is given in its project while its blobs are there", async () => {
    const file = randomBytes(50);
    const action = actionOf(140);
    await served.blobs.put(digestOf(file), file);
    await putAs(action, toBinary(ActionResultSchema, resultWith(file)));

    expect(await served.caches.resultPutFor("p", action, protectedDomain)).toEqual(
      resultWith(file),
    );
    expect(await served.caches.resultPutFor("q", action, protectedDomain)).toBeUndefined();
    await served.disk.remove(digestOf(file));
    expect(await served.caches.resultPutFor("p", action, protectedDomain)).toBeUndefined();
  });

  const kept = randomBytes(60);
  const digest = toDigestMessage(digestOf(kept));
  test.each<[string, Uint8Array]>([
    ["nothing", new Uint8Array()],
    ["text", Buffer.from("not a message, but a tool's own")],
    ["what reads as a result of nothing", Buffer.from([0x20, 0x00])],
    ["bytes of more than a result has", randomBytes(300_000)],
    [
      "a failure",
      toBinary(ActionResultSchema, { ...resultWith(kept), exitCode: 1 } as ActionResult),
    ],
    [
      "a path that leaves",
      toBinary(
        ActionResultSchema,
        create(ActionResultSchema, { outputFiles: [{ path: "../x", digest }] }),
      ),
    ],
  ])("is none when it is %s", async (_, bytes) => {
    const action = actionOf(140);
    await served.blobs.put(digestOf(kept), kept);
    await putAs(action, bytes);

    expect(await served.caches.resultPutFor("p", action, protectedDomain)).toBeUndefined();
    expect((await ask("GET", `/ac/${action.hash}`)).body.equals(bytes)).toBe(true);
  });
});
