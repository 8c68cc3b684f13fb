import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
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
import { askServer, postTo } from "../../test/support/ask-server.ts";
import { freshDatabase } from "../../test/support/fresh-db.ts";
import { type SampleRepository, sampleRepository } from "../../test/support/sample-repository.ts";
import { readServerConfig } from "./config.ts";
import { type RunningServer, startServer } from "./start-server.ts";

/** Commits, by the requests of their jobs. */
const asking = {
  little: "  a: { commands: 'true', inputs: [] }",
  "a large class": "  a: { commands: 'true', inputs: [], platform: { size-class: 4 } }",
  "the pool release": "  a: { commands: 'true', inputs: [], platform: { pool: release } }",
  "a label": "  a: { commands: 'true', inputs: [], platform: { gpu: yes } }",
  "three minutes": ["a", "b", "c"]
    .map((name) => `  ${name}: { commands: 'true', inputs: [] }`)
    .join("\n"),
} as const;
type Asking = keyof typeof asking;

/** A principal with this limit may not request that; the last entry is how the refusal names it. */
const limits: readonly [object, Asking, string][] = [
  [{ sizeClassCap: 2 }, "a large class", "a asks for size-class 4"],
  [{ pool: "default" }, "the pool release", "a asks for the pool release"],
  [{ label: "OSFamily=*" }, "a label", "a asks for gpu=yes"],
  [{ costCap: 2 }, "three minutes", "expected to take 3 minutes"],
];

let dataDir: string;
let server: RunningServer;
let repository: SampleRepository;
let root: string;
const commits = new Map<Asking, string>();

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "grange-caps-"));
  const databaseUrl = await freshDatabase();
  const localRepositories = tmpdir();
  const config = readServerConfig({ dataDir, port: 0, databaseUrl, localRepositories }, {});
  server = await startServer(config, silent);
  repository = await sampleRepository({});
  for (const [what, jobs] of Object.entries(asking)) {
    const text = `version: 1\njobs:\n${jobs}\n`;
    commits.set(what as Asking, await repository.commit({ ".grange/farm.yml": text }));
  }
  root = (await ask<{ token: string }>("/tokens", { principal: "root" })).token;
  await ask("/grants", { principal: "root", verb: "*", top: true });
  await ask("/grants/remove", { principal: "anyone", verb: "*" }, root);
});
afterAll(async () => {
  await server?.stop();
  await repository?.remove();
  await rm(dataDir, { recursive: true, force: true });
});

const ask = <T>(path: string, body: object, token?: string) => postTo<T>(server, path, body, token);

/** Returns the token of a new principal with one grant. */
async function whoMay(verb: string, limit: object): Promise<string> {
  const principal = `${verb}-${commits.size}-${Math.random().toString(36).slice(2, 10)}`;
  const { token } = await ask<{ token: string }>("/tokens", { principal }, root);
  await ask("/grants", { principal, verb, ...limit }, root);
  return token;
}

const submit = async (what: Asking, token: string) =>
  (
    await ask<{ graph: { id: string } }>(
      "/graphs",
      { repository: repository.path, rev: commits.get(what), branch: "main" },
      token,
    )
  ).graph.id;

/** A graph of root's that has ended, so that it can be run again. */
async function cancelled(what: Asking): Promise<string> {
  const id = await submit(what, root);
  await ask(`/graphs/${id}/cancel`, {}, root);
  // A job that a server prepares meanwhile is cancelled by that server, a moment later.
  await expect
    .poll(() => askServer(server, "GET", `/graphs/${id}`, undefined, root))
    .toMatchObject({ body: { state: "cancelled" } });
  return id;
}

/** The same, and no server had begun to prepare its jobs: they have no runs. */
async function cancelledUnprepared(what: Asking): Promise<string> {
  for (;;) {
    const id = await cancelled(what);
    const { body } = await askServer(server, "GET", `/graphs/${id}`, undefined, root);
    const { jobList } = z.object({ jobList: z.array(z.object({ runs: z.number() })) }).parse(body);
    if (jobList.every(({ runs }) => runs === 0)) return id;
  }
}

describe.each(limits)("who is held to %j, and asks for %s", (limit, what, says) => {
  const refused = { message: expect.stringMatching(new RegExp(`^403 .*${says}`)) };

  test("may not submit it, and less of it they may", async () => {
    const token = await whoMay("submit", limit);

    await expect(submit(what, token)).rejects.toMatchObject(refused);
    expect(await submit("little", token)).toEqual(expect.any(String));
  });

  test("may not clone another's graph of it", async () => {
    const token = await whoMay("clone", limit);
    const [much, little] = [await cancelled(what), await cancelled("little")];

    await expect(ask(`/graphs/${much}/clone`, {}, token)).rejects.toMatchObject(refused);
    await ask(`/graphs/${little}/clone`, {}, token);
  });

  test("may not run another's again", async () => {
    const token = await whoMay("retrigger", limit);
    const [much, little] = [await cancelled(what), await cancelled("little")];

    const again = ask(`/graphs/${much}/retrigger`, { selection: "*" }, token);
    await expect(again).rejects.toMatchObject(refused);
    await ask(`/graphs/${little}/retrigger`, { selection: "*" }, token);
  });

  test("may not activate it", async () => {
    const token = await whoMay("activate", limit);
    // A job whose run was cancelled stays cancelled.
    const [much, little] = [await cancelledUnprepared(what), await cancelled("little")];

    const active = ask(`/graphs/${much}/activate`, { selection: "*" }, token);
    await expect(active).rejects.toMatchObject(refused);
    await ask(`/graphs/${little}/activate`, { selection: "*" }, token);
  });
});

test("runs one after the other are counted, too", async () => {
  const token = await whoMay("retrigger", { costCap: 2 });
  const id = await cancelled("little");

  await expect(
    ask(`/graphs/${id}/retrigger`, { jobs: ["a"], times: 3 }, token),
  ).rejects.toMatchObject({ message: expect.stringContaining("expected to take 3 minutes") });
});

describe("who may execute up to a class", () => {
  const cases: readonly [object, string, string, string][] = [
    [{ sizeClassCap: 2 }, "size-class", "4", "size-class 4"],
    [{ pool: "default" }, "pool", "release", "the pool release"],
    [{ label: "OSFamily=*" }, "gpu", "yes", "gpu=yes"],
  ];

  test.each(cases)("%j is refused %s=%s, by gRPC", async (limit, name, value, says) => {
    const token = await whoMay("execute", limit);
    const authorization = `Bearer ${token}`;
    const channel = new GrpcChannel({ url: server.url, metadata: () => ({ authorization }) });
    try {
      const blobs = remoteBlobStore(channel, "default");
      const put = async <S extends DescMessage>(schema: S, init: MessageInitShape<S>) => {
        const bytes = toBinary(schema, create(schema, init));
        await blobs.put(digestOf(bytes), bytes);
        return toDigestMessage(digestOf(bytes));
      };
      await blobs.put(emptyDigest, new Uint8Array());
      const actionDigest = await put(ActionSchema, {
        commandDigest: await put(CommandSchema, { arguments: ["true"] }),
        inputRootDigest: toDigestMessage(emptyDigest),
        platform: { properties: [{ name, value }] },
      });
      const asked = async () => {
        for await (const _ of channel.serverStream(Execution.method.execute, { actionDigest }));
      };

      await expect(asked()).rejects.toMatchObject({
        code: "permission_denied",
        message: expect.stringContaining(says),
      });
    } finally {
      await channel.stop();
    }
  });
});
