import { clone, create } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { anyone, everybody, type Principal } from "#access/principal.ts";
import { lookUpActionResult } from "#actions/action-cache.ts";
import { storedResult } from "#actions/result.fixture.ts";
import { mostInlinedBytes } from "#caches/rev2/inline-outputs.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { buildDirectoryTree } from "#cas/build-directory-tree.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import type { TreeEntry } from "#cas/tree-entry.ts";
import { encodeTree } from "#cas/tree-message.ts";
import type { Digest } from "#core/digest.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import { sql } from "#db/sql.ts";
import { movableClock } from "#execution/execution.fixture.ts";
import { detailsOf } from "#grpc/detailed-fault.ts";
import {
  ActionCache,
  type ActionResult,
  ActionResultSchema,
  NodePropertiesSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { PreconditionFailureSchema } from "#proto/google/rpc/error_details_pb.ts";
import { Outcome } from "#proto/grange/worker/v1/worker_pb.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { fakeWorker, metadataOf, rev2Server } from "./rev2-farm.fixture.ts";

const db = await freshDb();
/** A store that reports these blobs as missing. */
const lost = new Set<string>();
const whole = memoryBlobStore();
const store: BlobStore = {
  ...whole,
  findMissing: async (digests) => [
    ...(await whole.findMissing(digests.filter(({ hash }) => !lost.has(hash)))),
    ...digests.filter(({ hash }) => lost.has(hash)),
  ],
};
/** Such a principal may not write entries that others read. */
const reader: Principal = {
  name: "reader",
  grants: [{ verb: "execute", repository: "*", branch: "*", priorityCap: null, top: false }],
};
const nobody: Principal = {
  name: "weak",
  grants: [{ verb: "read", repository: "*", branch: "*", priorityCap: null, top: false }],
};
const farm = await rev2Server({
  db,
  clock: movableClock(),
  blobs: store,
  async identify(authorization) {
    if (authorization === "Bearer stranger") return { name: anyone, grants: nobody.grants };
    if (authorization === "Bearer weak") return nobody;
    return authorization === "Bearer reader" ? reader : everybody;
  },
});
const worker = await fakeWorker(farm);
afterAll(async () => {
  await farm.stop();
  await db.close();
});
beforeEach(async () => {
  lost.clear();
  await db.script("truncate action_result, execution, operation cascade");
});

const { getActionResult, updateActionResult } = ActionCache.method;
const { result: complete, blobs: its } = await storedResult(farm.blobs);

/** Some tools store their own text in place of an action. */
function aTask(text: string): Digest {
  return digestOf(Buffer.from(JSON.stringify({ task: text })));
}

function update(action: Digest, actionResult: ActionResult, instanceName = "") {
  const actionDigest = toDigestMessage(action);
  return farm.channel.unary(updateActionResult, { instanceName, actionDigest, actionResult });
}

function get(action: Digest, changes: { instanceName?: string; inlineStdout?: boolean } = {}) {
  return farm.channel.unary(getActionResult, {
    actionDigest: toDigestMessage(action),
    ...changes,
  });
}

async function put(bytes: Uint8Array): Promise<Digest> {
  await farm.blobs.put(digestOf(bytes), bytes);
  return digestOf(bytes);
}

describe("a client's result", () => {
  test("serves other clients of the project, whatever its action is", async () => {
    const action = aTask("build");
    const written = clone(ActionResultSchema, complete);
    for (const file of written.outputFiles)
      file.nodeProperties = create(NodePropertiesSchema, { unixMode: 0o644 });

    await update(action, written);

    expect(await get(action)).toEqual(written);
    await expect(get(action, { instanceName: "other" })).rejects.toMatchObject({
      code: "not_found",
    });
  });

  test("is not taken for what a worker made, where that counts", async () => {
    const actionDigest = aTask("trusted");
    await update(actionDigest, complete);

    const key = { project: "default", domain: protectedDomain, actionDigest };

    expect(await lookUpActionResult(db, farm.trees, key)).toBeUndefined();
    expect(await lookUpActionResult(db, farm.trees, key, "clients too")).toMatchObject({
      origin: { kind: "client", principal: "anyone" },
    });
  });

  test("is replaced by the next", async () => {
    const action = aTask("twice");
    await update(action, complete);

    await update(action, create(ActionResultSchema, { stdoutRaw: Buffer.from("newer") }));

    expect(Buffer.from((await get(action)).stdoutRaw).toString()).toBe("newer");
  });

  test("that lacks blobs is refused with all of them, those inside of Trees too", async () => {
    const absent = ["file", "in tree", "log"].map((text) => digestOf(Buffer.from(`no ${text}`)));
    const [file, inTree, log] = absent.map(toDigestMessage);
    const entry = { kind: "file", path: "a/b", digest: absent[1] as Digest, executable: false };
    const tree = await put(encodeTree(buildDirectoryTree([entry as TreeEntry])));
    const lacking = create(ActionResultSchema, {
      outputFiles: [{ path: "x", ...(file && { digest: file }) }],
      outputDirectories: [{ path: "y", treeDigest: toDigestMessage(tree) }],
      ...(log && { stderrDigest: log }),
    });

    const refused = await update(aTask("lacking"), lacking).catch((reason: unknown) => reason);

    expect(refused).toMatchObject({ code: "failed_precondition" });
    const [detail, ...more] = detailsOf(refused);
    const failure = detail && anyUnpack(detail, PreconditionFailureSchema);
    expect(more).toEqual([]);
    expect(failure?.violations.map(({ type }) => type)).toEqual(Array(3).fill("MISSING"));
    expect(failure?.violations.map(({ subject }) => subject)).toContain(
      `blobs/${inTree?.hash}/${inTree?.sizeBytes}`,
    );
  });

  test.each([
    ["no result", undefined],
    ["a path that leaves", create(ActionResultSchema, { outputFiles: [{ path: "../x" }] })],
    ["no digest of a file", create(ActionResultSchema, { outputFiles: [{ path: "x" }] })],
    [
      "one path twice",
      create(ActionResultSchema, {
        outputSymlinks: [
          { path: "x", target: "a" },
          { path: "x", target: "b" },
        ],
      }),
    ],
  ])("with %s is refused", async (_, result) => {
    const asked = farm.channel.unary(updateActionResult, {
      actionDigest: toDigestMessage(aTask("bad")),
      ...(result === undefined ? {} : { actionResult: result }),
    });

    await expect(asked).rejects.toMatchObject({ code: "invalid_argument" });
  });

  test("that failed is taken, and serves nobody", async () => {
    const action = aTask("failed");

    await update(action, create(ActionResultSchema, { exitCode: 1 }));

    await expect(get(action)).rejects.toMatchObject({ code: "not_found" });
  });

  test("needs the right to write, or to have blobs and a name to keep it for", async () => {
    const asked = { actionDigest: toDigestMessage(aTask("forbidden")) };
    const as = (token: string) => ({ metadata: { authorization: `Bearer ${token}` } });
    const write = (token: string) =>
      farm.channel.unary(updateActionResult, { ...asked, actionResult: complete }, as(token));
    const read = (token: string) => farm.channel.unary(getActionResult, asked, as(token));

    for (const token of ["stranger", "weak"])
      await expect(write(token)).rejects.toMatchObject({ code: "permission_denied" });
    await write("reader");

    // The entry is visible only to this principal.
    expect(await read("reader")).toMatchObject({ exitCode: 0 });
    for (const token of ["stranger", "owner"])
      await expect(read(token)).rejects.toMatchObject({ code: "not_found" });
    const rows = await db.many(
      z.object({ domain: z.string() }),
      sql`select domain from action_result`,
    );
    expect(rows).toEqual([{ domain: "user/reader" }]);
  });

  test("of who may write is for all, also for those who write for themselves", async () => {
    const asked = { actionDigest: toDigestMessage(aTask("for all")) };
    await farm.channel.unary(updateActionResult, { ...asked, actionResult: complete });

    for (const token of ["stranger", "reader", "owner"]) {
      const metadata = { authorization: `Bearer ${token}` };
      const found = await farm.channel.unary(getActionResult, asked, { metadata });
      expect(found).toMatchObject({ exitCode: 0 });
    }
  });

  test("leaves its inlined files in the store", async () => {
    const bytes = Buffer.from("inlined only");
    const output = { path: "x", digest: toDigestMessage(digestOf(bytes)) };

    await update(
      aTask("inlined"),
      create(ActionResultSchema, { outputFiles: [{ ...output, contents: bytes }] }),
    );

    expect(Buffer.from((await farm.blobs.get(digestOf(bytes))) ?? []).toString()).toBe(
      "inlined only",
    );
    const wrong = create(ActionResultSchema, {
      outputFiles: [{ ...output, contents: Buffer.from("others") }],
    });
    await expect(update(aTask("wrong"), wrong)).rejects.toMatchObject({
      code: "invalid_argument",
    });
  });
});

test("a worker's result stays against a client's, as long as it is complete", async () => {
  const made = await put(Buffer.from("made by the worker"));
  const action = await farm.anAction("by both");
  const stream = farm.execute(action);
  await stream.next();
  await (await worker.begin())?.end({
    outcome: Outcome.SUCCEEDED,
    result: create(ActionResultSchema, {
      outputFiles: [{ path: "x", digest: toDigestMessage(made) }],
    }),
  });
  await stream.end();
  const clients = create(ActionResultSchema, { stdoutRaw: Buffer.from("says the client") });

  await update(action, clients);
  const before = await get(action);
  lost.add(made.hash);
  await update(action, clients);
  const after = await get(action);

  expect(before.outputFiles.map(({ path }) => path)).toEqual(["x"]);
  expect(Buffer.from(after.stdoutRaw).toString()).toBe("says the client");
});

test("a result is no hit once something inside of a Tree is gone", async () => {
  const action = aTask("eroding");
  await update(action, complete);
  lost.add(its.deep.hash);

  await expect(get(action)).rejects.toMatchObject({ code: "not_found" });
  lost.clear();
  expect(await get(action)).toBeDefined();
});

test("outputs are inlined on request, as long as the answer stays small", async () => {
  const [small, large] = [Buffer.from("small"), Buffer.alloc(mostInlinedBytes - 3, "x")];
  const action = aTask("inlining");
  await update(
    action,
    create(ActionResultSchema, {
      stdoutDigest: toDigestMessage(await put(small)),
      stderrDigest: toDigestMessage(await put(large)),
      outputFiles: [{ path: "a", digest: toDigestMessage(await put(small)) }],
    }),
  );
  const actionDigest = toDigestMessage(action);
  const all = { inlineStdout: true, inlineStderr: true, inlineOutputFiles: ["a", "b"] };

  const plain = await get(action);
  const inlined = await farm.channel.unary(getActionResult, { actionDigest, ...all });

  expect([plain.stdoutRaw.length, plain.outputFiles[0]?.contents.length]).toEqual([0, 0]);
  expect(Buffer.from(inlined.stdoutRaw).toString()).toBe("small");
  expect(inlined.stderrRaw.length).toBe(0);
  expect(Buffer.from(inlined.outputFiles[0]?.contents ?? []).toString()).toBe("small");
});

test("who may only read, and has no name, leaves no traces", async () => {
  const metadata = metadataOf({ toolInvocationId: "spam" });
  const actionDigest = toDigestMessage(aTask("unknown"));
  for (const token of ["stranger", "reader"]) {
    const asked = farm.channel.unary(
      getActionResult,
      { actionDigest },
      { metadata: { ...metadata, authorization: `Bearer ${token}` } },
    );
    await expect(asked).rejects.toMatchObject({ code: "not_found" });
  }
  await farm.notes.flush();

  const Who = z.object({ principal: z.string() });
  expect(await db.many(Who, sql`select principal from invocation where id = 'spam'`)).toEqual([
    { principal: "reader" },
  ]);
});
