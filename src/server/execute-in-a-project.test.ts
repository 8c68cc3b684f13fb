import { join } from "node:path";
import { anyUnpack, durationFromMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { fromDigestMessage, toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { defaultProject } from "#core/default-project.ts";
import type { Digest } from "#core/digest.ts";
import { sql } from "#db/sql.ts";
import { silent } from "#execution/execution.fixture.ts";
import {
  ActionCache,
  ExecuteResponseSchema,
  Execution,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { Operation } from "#proto/google/longrunning/operations_pb.ts";
import { Outcome, Workers } from "#proto/grange/worker/v1/worker_pb.ts";
import { readWorkerConfig } from "#worker/config.ts";
import { startWorker } from "#worker/start-worker.ts";
import { type Asker, aClosedFarm, actionOf, blobsOf, upload } from "./two-projects.fixture.ts";

let farm: Awaited<ReturnType<typeof aClosedFarm>>;
let [inB, inDefault] = [] as unknown as [Asker, Asker];
let workerToken: string;
beforeAll(async () => {
  farm = await aClosedFarm();
  const token = await farm.tokenOf("builder", ["execute", "cache"], "team/b");
  inB = farm.asker("team/b", token);
  inDefault = farm.asker(defaultProject, await farm.tokenOf("other", ["execute", "cache"]));
  workerToken = await farm.tokenOf("barn", ["work"]);
});
afterAll(() => farm?.stop());

async function execute({ channel, project }: Asker, action: Digest) {
  let last: Operation | undefined;
  for await (const operation of channel.serverStream(Execution.method.execute, {
    instanceName: project,
    actionDigest: toDigestMessage(action),
  })) {
    last = operation;
  }
  if (last?.result.case !== "response") throw new Error("it came to no end");
  const response = anyUnpack(last.result.value, ExecuteResponseSchema);
  if (response === undefined) throw new Error("the operation ended without a response");
  return response;
}

test("what is executed in a project has its inputs from there and its outputs there, and nowhere else", async () => {
  const worker = await startWorker(
    readWorkerConfig(
      {
        server: farm.server.url,
        name: "barn-1",
        dataDir: join(farm.dataDir, "worker"),
        slots: 1,
        token: workerToken,
      },
      {},
    ),
    silent,
  );
  onTestFinished(() => worker.stop());
  const { action, bytes } = actionOf({
    script: "cp input out; mkdir -p dist; cp input dist/deep; echo it said so",
    input: "only b has this",
    platform: {},
    outputs: ["out", "dist"],
  });
  await upload(inB, bytes);

  const { result, status, cachedResult } = await execute(inB, action);

  expect(status?.code ?? 0).toBe(0);
  expect(cachedResult).toBe(false);
  const named = [
    result?.outputFiles[0]?.digest,
    result?.outputDirectories[0]?.treeDigest,
    result?.stdoutDigest,
  ].map((digest) => fromDigestMessage(digest, "an output", "sha256"));
  expect(await blobsOf(inB).findMissing(named)).toEqual([]);
  expect(await blobsOf(inDefault).findMissing(named)).toEqual(named);
  expect(await blobsOf(inB).get(named[0] as Digest)).toEqual(Buffer.from("only b has this"));
  const asked = { actionDigest: toDigestMessage(action) };
  const cached = await execute(inB, action);
  expect(cached.cachedResult).toBe(true);
  await expect(
    inDefault.channel.unary(ActionCache.method.getActionResult, asked),
  ).rejects.toMatchObject({ code: "not_found" });

  const [run] = await farm.server.services.db.many(
    z.object({ id: z.string() }),
    sql`select id from execution where project = 'team/b'`,
  );
  const api = `${farm.server.url.replace(/\/$/, "")}/api/v1/executions/${run?.id}`;
  expect(await (await fetch(`${api}/log`)).text()).toBe("it said so\n");
  expect(await (await fetch(api)).json()).toMatchObject({
    project: "team/b",
    command: { arguments: expect.arrayContaining(["/bin/sh"]) },
  });
});

test("a worker that stored its outputs in another project has stored none", async () => {
  const channel = farm.asker("", workerToken).channel;
  const me = { workerName: "shed-1", instanceId: "instance-1" };
  await channel.unary(Workers.method.register, {
    ...me,
    name: me.workerName,
    platform: { only: "shed" },
    sizeClass: 1,
    slots: 1,
  });
  const { action, bytes } = actionOf({
    script: "true",
    input: "",
    platform: { only: "shed" },
    outputs: ["out"],
  });
  await upload(inB, bytes);
  const ending = execute(inB, action);
  const output = Buffer.from("what it made");
  const claim = async () => {
    const wait = durationFromMs(10_000);
    const { leases } = await channel.unary(Workers.method.claim, { ...me, most: 1, wait });
    return leases[0];
  };
  const finish = (lease: NonNullable<Awaited<ReturnType<typeof claim>>>["lease"]) => {
    const outputFiles = [{ path: "out", digest: toDigestMessage(digestOf(output)) }];
    const result = { exitCode: 0, outputFiles };
    const finished = [
      { ...(lease === undefined ? {} : { lease }), outcome: Outcome.SUCCEEDED, result },
    ];
    return channel.unary(Workers.method.finish, { ...me, finished });
  };

  const first = await claim();
  await blobsOf({ ...inDefault, channel }).put(digestOf(output), output);
  await finish(first?.lease);
  const second = await claim();
  await blobsOf({ ...inB, channel }).put(digestOf(output), output);
  await finish(second?.lease);

  expect([first?.project, second?.project]).toEqual(["team/b", "team/b"]);
  expect([first?.lease?.attempt, second?.lease?.attempt]).toEqual([1, 2]);
  expect((await ending).result?.outputFiles).toHaveLength(1);
});

test("a project is begun by who may build there, by no worker, and by nobody who only reads", async () => {
  const hello = Buffer.from("hello");
  const put = (asker: Asker) => blobsOf(asker).put(digestOf(hello), hello);
  const named = await farm.tokenOf("reader", ["report"], "team/new");

  for (const token of ["", named, workerToken]) {
    await expect(put(farm.asker("team/new", token))).rejects.toThrow(
      /grange grant add \S+ execute --repository (team\/new|REPOSITORY)/,
    );
  }
  await put(farm.asker("team/new", await farm.tokenOf("newcomer", ["cache"], "team/new")));

  // A stored blob is still open to uploads as before: a digest cannot be used for other bytes.
  await put(farm.asker("team/new", named));
});
