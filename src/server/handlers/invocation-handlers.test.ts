import { create, toBinary } from "@bufbuild/protobuf";
import pino from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { anyone, everybody, Grant, type Principal } from "#access/principal.ts";
import { ExecutionDetail } from "#api/execution.ts";
import { InvocationActions, InvocationDetail, InvocationList } from "#api/invocation.ts";
import { TreeListing } from "#api/tree-listing.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { buildDirectoryTree } from "#cas/build-directory-tree.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { encodeTree } from "#cas/tree-message.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { sql } from "#db/sql.ts";
import { aQueue, aRequest } from "#execution/execution.fixture.ts";
import { anInvocation, anOperation } from "#invocations/pages/invocation-rows.fixture.ts";
import {
  ActionResultSchema,
  ActionSchema,
  CommandSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { alwaysReady } from "../health/always-ready.fixture.ts";
import type { Farm } from "../http/farm.ts";
import { httpApp } from "../http/http-app.ts";
import { withoutReplicas } from "../http/without-replicas.fixture.ts";
import type { AllHandlers } from "./all-handlers.ts";
import { executionHandlers } from "./execution-handlers.ts";
import { invocationHandlers } from "./invocation-handlers.ts";
import { objectFinders } from "./object-finders.ts";

const db = await freshDb();
const blobs = memoryBlobStore();
const clock = { now: () => new Date() };
let queue: Awaited<ReturnType<typeof aQueue>>;
let caller: Principal = everybody;
let app: ReturnType<typeof httpApp>;

beforeAll(async () => {
  queue = await aQueue(db, { clock });
  app = appWith(blobs);
});
afterAll(async () => {
  await queue.stop();
  await db.close();
});
beforeEach(async () => {
  caller = everybody;
  await db.run(sql`truncate invocation, operation, cache_lookup, execution cascade`);
});

const host = "127.0.0.1";

function appWith(store: BlobStore) {
  const ticket = () => ({ changed: async () => true, drop() {} });
  const feeds = { logs: { ticket, stop: async () => {} } };
  const services = { db, blobsOf: () => store, clock, queue, feeds };
  const handlers = { ...invocationHandlers(services), ...executionHandlers(services) };
  return httpApp({
    readiness: alwaysReady,
    farm: { identify: async () => caller } as unknown as Farm,
    handlers: handlers as AllHandlers,
    finders: objectFinders(db),
    reading: withoutReplicas(db),
    logger: pino({ level: "silent" }),
    webDir: undefined,
    host,
  });
}

const ask = (path: string) => app.request(`/api/v1${path}`, { headers: { host } });
const post = (path: string) =>
  app.request(`/api/v1${path}`, {
    method: "POST",
    headers: { host, "content-type": "application/json" },
    body: "{}",
  });

async function keep(content: string | Uint8Array): Promise<Digest> {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  const digest = digestOf(bytes);
  await blobs.put(digest, bytes);
  return digest;
}

test("an invocation that waits says why, in its list, on its page and with its actions", async () => {
  await anInvocation(db, "i 1/2", { project: "team/app" });
  const request = aRequest({ project: "team/app" });
  await queue.submit(request);
  await anOperation(db, "i 1/2", { project: "team/app", executionId: request.id, target: "//x" });

  const list = InvocationList.parse(await (await ask("/invocations?project=team/app")).json());
  const path = `/invocations/${encodeURIComponent("i 1/2")}`;
  const detail = InvocationDetail.parse(await (await ask(`${path}?project=team/app`)).json());
  const actions = InvocationActions.parse(
    await (await ask(`${path}/actions?project=team/app&state=queued`)).json(),
  );

  expect(list.invocations).toMatchObject([{ id: "i 1/2", counts: { queued: 1 } }]);
  expect(detail.waiting).toBe("its one action waits for a worker: none is connected");
  expect(actions.actions).toMatchObject([{ executionId: request.id, target: "//x" }]);
  expect((await ask("/invocations/i%201%2F2")).status).toBe(404);
});

test("what cannot be asked is refused in words", async () => {
  await anInvocation(db, "i");
  for (const path of [
    "/invocations?limit=0",
    "/invocations?before=x",
    "/invocations/i/actions?state=odd",
    "/invocations/i/actions?after=%00",
    "/executions/nonsense",
    "/blobs/xyz/1",
    `/blobs/${"a".repeat(64)}/-1`,
    `/blobs/${"a".repeat(64)}/1e3`,
    `/blobs/${"A".repeat(64)}/1`,
  ]) {
    const answer = await ask(path);
    expect([path, answer.status]).toEqual([path, 400]);
    expect(await answer.json()).toMatchObject({ error: { code: "invalid_argument" } });
  }
});

describe("cancelling", () => {
  test("ends what the invocation waits for, and says so", async () => {
    await anInvocation(db, "i");
    const request = aRequest();
    await queue.submit(request);
    await anOperation(db, "i", { executionId: request.id });

    const detail = InvocationDetail.parse(await (await post("/invocations/i/cancel")).json());

    expect(detail).toMatchObject({ state: "cancelled", counts: { queued: 0, cancelled: 1 } });
    const execution = ExecutionDetail.parse(await (await ask(`/executions/${request.id}`)).json());
    expect(execution).toMatchObject({ state: "finished", outcome: "cancelled", waiting: null });
  });

  test("needs the grant, on that project", async () => {
    await anInvocation(db, "i");
    const grant = {
      verb: "cancel",
      repository: "other",
      branch: "*",
      priorityCap: null,
      top: false,
    };
    caller = { name: anyone, grants: [Grant.parse(grant)] };

    expect((await post("/invocations/i/cancel")).status).toBe(403);
    expect((await post("/invocations/nobody/cancel?project=other")).status).toBe(404);
  });
});

test("an execution tells its command, its outputs, its streams and who asked", async () => {
  const command = await keep(
    toBinary(
      CommandSchema,
      create(CommandSchema, {
        arguments: ["gcc", "-c", "a.c"],
        environmentVariables: [{ name: "PATH", value: "/bin" }],
        platform: { properties: [{ name: "size", value: "small" }] },
      }),
    ),
  );
  const root = await keep("");
  const action = create(ActionSchema, {
    commandDigest: toDigestMessage(command),
    inputRootDigest: toDigestMessage(root),
  });
  const actionDigest = await keep(toBinary(ActionSchema, action));
  const output = await keep("object");
  const tree = await keep(
    encodeTree(
      buildDirectoryTree([{ kind: "file", path: "sub/x.h", digest: output, executable: true }]),
    ),
  );
  const result = create(ActionResultSchema, {
    outputFiles: [{ path: "a.o", digest: toDigestMessage(output) }],
    outputDirectories: [{ path: "gen", treeDigest: toDigestMessage(tree) }],
    stdoutRaw: Buffer.from("hello\n"),
    stderrDigest: toDigestMessage(await keep("careful\n")),
  });
  const request = aRequest({ actionDigest });
  await queue.submit(request);
  await anInvocation(db, "i");
  await anOperation(db, "i", { executionId: request.id, target: "//a", mnemonic: "CppCompile" });
  await db.run(sql`
    update execution set state = 'finished', outcome = 'succeeded', exit_code = 0,
      finished_at = queued_at, result = ${Buffer.from(toBinary(ActionResultSchema, result))}
    where id = ${request.id}
  `);

  const detail = ExecutionDetail.parse(await (await ask(`/executions/${request.id}`)).json());

  expect(detail).toMatchObject({
    inputRoot: digestKey(root),
    command: {
      arguments: ["gcc", "-c", "a.c"],
      environment: { PATH: "/bin" },
      platform: { size: "small" },
    },
    outputs: [
      { kind: "file", path: "a.o", blob: digestKey(output), sizeBytes: 6 },
      { kind: "directory", path: "gen", tree: digestKey(tree) },
    ],
    requestedBy: [{ invocation: "i", target: "//a", mnemonic: "CppCompile" }],
  });
  const stdout = await ask(`/executions/${request.id}/log`);
  expect(await stdout.text()).toBe("hello\n");
  expect(stdout.headers.get("x-log-complete")).toBe("true");
  const stderr = await ask(`/executions/${request.id}/log?stream=stderr&offset=4`);
  expect(await stderr.text()).toBe("ful\n");
  expect(stderr.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  const events = await ask(`/executions/${request.id}/log/events?stream=stderr`);
  expect(await events.text()).toContain('"text":"careful\\n"');
  const listing = TreeListing.parse(await (await ask(`/blobs/${digestKey(tree)}/tree`)).json());
  expect(listing).toEqual({
    count: 1,
    entries: [
      { kind: "file", path: "sub/x.h", blob: digestKey(output), sizeBytes: 6, executable: true },
    ],
  });
});

test("of an execution with very many outputs the first are told, and how many more there are", async () => {
  const digest = toDigestMessage(await keep("object"));
  const outputFiles = Array.from({ length: 2_003 }, (_, n) => ({
    path: `out/${String(n).padStart(5, "0")}`,
    digest,
  }));
  const result = toBinary(ActionResultSchema, create(ActionResultSchema, { outputFiles }));
  const request = aRequest();
  await queue.submit(request);
  await db.run(sql`
    update execution set state = 'finished', outcome = 'succeeded', exit_code = 0,
      finished_at = queued_at, result = ${Buffer.from(result)}
    where id = ${request.id}
  `);

  const detail = ExecutionDetail.parse(await (await ask(`/executions/${request.id}`)).json());

  expect(detail.outputs).toHaveLength(2_000);
  expect(detail.outputs.at(-1)).toMatchObject({ path: "out/01999" });
  expect(detail.moreOutputs).toBe(3);
});

test("an execution whose action is no action, or gone, still tells all else", async () => {
  const odd = aRequest({ actionDigest: await keep("\u00ff no protobuf") });
  const gone = aRequest();
  for (const request of [odd, gone]) {
    await queue.submit(request);
    const detail = ExecutionDetail.parse(await (await ask(`/executions/${request.id}`)).json());
    expect(detail).toMatchObject({ command: null, inputRoot: null, state: "queued" });
    expect(detail.waiting?.kind).toBe("capacity-none");
  }
});

describe("blobs", () => {
  test("come whole, as attachments that no browser runs, under a name that is only a name", async () => {
    const digest = await keep("<script>alert(1)</script>");

    const answer = await ask(
      `/blobs/${digestKey(digest)}?name=${encodeURIComponent('out/it\'s\r\n"ü".html')}`,
    );

    expect(await answer.text()).toBe("<script>alert(1)</script>");
    expect(answer.headers.get("content-type")).toBe("application/octet-stream");
    expect(answer.headers.get("content-length")).toBe("25");
    expect(answer.headers.get("content-disposition")).toBe(
      "attachment; filename*=UTF-8''it%27s%0D%0A%22%C3%BC%22.html",
    );
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
  });

  test("are shown as text only when they are text, and not large", async () => {
    const text = await keep("größer\u001b[0m\n");
    const bytes = await keep(Uint8Array.of(0xff, 0xfe, 1));
    const nul = await keep("a\0b");
    const large = await keep("x".repeat(1024 * 1024 + 1));

    const shown = await ask(`/blobs/${digestKey(text)}?as=text`);

    expect(await shown.text()).toBe("größer\u001b[0m\n");
    expect(shown.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(shown.headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
    for (const digest of [bytes, nul, large]) {
      expect((await ask(`/blobs/${digestKey(digest)}?as=text`)).status).toBe(409);
    }
  });

  test("are read no further than somebody listens", async () => {
    let told = 0;
    async function* endless() {
      for (;;) {
        told += 1;
        yield new Uint8Array(1024 * 1024);
        // Other tasks run between two pieces, as they do when a disk is read.
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    let leave = () => {};
    const left = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const store: BlobStore = {
      ...blobs,
      read: async () =>
        (async function* () {
          try {
            yield* endless();
          } finally {
            leave();
          }
        })(),
    };
    const path = `/api/v1/blobs/${"a".repeat(64)}/9`;
    const answer = await appWith(store).request(path, { headers: { host } });
    const reader = answer.body?.getReader();
    await reader?.read();

    await reader?.cancel();
    await left;

    expect(told).toBeLessThan(50);
  });

  test("that are not there are not there, whatever is asked of them", async () => {
    const digest = digestKey(digestOf(Buffer.from("nobody kept this")));

    for (const path of [digest, `${digest}?as=text`, `${digest}/tree`]) {
      expect((await ask(`/blobs/${path}`)).status).toBe(404);
    }
    const noTree = await keep("no tree");
    expect((await ask(`/blobs/${digestKey(noTree)}/tree`)).status).toBe(400);
  });
});
