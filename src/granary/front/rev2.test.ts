import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { Fault } from "#core/fault.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { methodsOf } from "#grpc/method.ts";
import {
  ActionCache,
  ActionResultSchema,
  ActionSchema,
  Capabilities,
  CommandSchema,
  ContentAddressableStorage,
  DirectorySchema,
  ExecuteRequestSchema,
  ExecuteResponseSchema,
  Execution,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { ByteStream } from "#proto/google/bytestream/bytestream_pb.ts";
import { slowLine } from "../../../test/support/slow-line.ts";
import { connectGranaryFarm } from "../farm/connect-granary-farm.ts";
import { fakeFarm } from "../farm/fake-farm.fixture.ts";
import { noFarm } from "../farm/no-farm.ts";
import { silentLogger } from "../store/granary-store.fixture.ts";
import { fakeBuild, told } from "../tiered-cache/fake-build.fixture.ts";
import { openCacheBehindLine, openCacheWith } from "../tiered-cache/tiered-cache.fixture.ts";
import { frontOver, sendAll } from "./front.fixture.ts";

function channelTo(url: string) {
  const channel = new GrpcChannel({ url });
  onTestFinished(() => channel.stop());
  return channel;
}

const { getActionResult, updateActionResult } = ActionCache.method;
const output = Buffer.from("an output");
const action = digestOf(Buffer.from("an action"));
const asked = { instanceName: "p", actionDigest: toDigestMessage(action) };
const result: MessageInitShape<typeof ActionResultSchema> = {
  outputFiles: [{ path: "out", digest: toDigestMessage(digestOf(output)) }],
  executionMetadata: {
    executionStartTimestamp: { seconds: 100n, nanos: 0 },
    executionCompletedTimestamp: { seconds: 101n, nanos: 500_000_000 },
  },
};

async function upload(channel: GrpcChannel, bytes: Uint8Array) {
  const requests = [{ digest: toDigestMessage(digestOf(bytes)), data: bytes }];
  await channel.unary(ContentAddressableStorage.method.batchUpdateBlobs, {
    instanceName: "p",
    requests,
  });
}

/** Returns a farm with the results of a first machine, and the port of a second machine. */
async function twoMachines() {
  const first = await openCacheWith(noFarm());
  const one = channelTo((await frontOver(first)).url);
  await upload(one, output);
  await one.unary(updateActionResult, { ...asked, actionResult: result });
  const second = await openCacheBehindLine();
  await sendAll(first, second.fake);
  const build = fakeBuild();
  const channel = channelTo((await frontOver(second, { builds: [build, fakeBuild()] })).url);
  return { first, second, channel, build, metadata: { "x-grange-build": build.id } };
}

test("another machine gets a result with its blobs and its cost", async () => {
  const { first, channel, build, metadata } = await twoMachines();

  const found = await channel.unary(getActionResult, asked, { metadata });
  const read = await channel.unary(
    ContentAddressableStorage.method.batchReadBlobs,
    { instanceName: "p", digests: [toDigestMessage(digestOf(output))] },
    { metadata },
  );

  expect(found.outputFiles[0]?.path).toBe("out");
  expect(Buffer.from(read.responses[0]?.data ?? []).toString()).toBe("an output");
  expect(first.outbox[0]?.costMs).toBe(1_500);
  expect(told(build)).toEqual([`fetched not-indexed reapi ${action.hash}/${action.sizeBytes}`]);
  expect(build.blobsRequested).toContainEqual(digestOf(output));
});

test("a result with a blob that the farm has lost is not found", async () => {
  const { second, channel } = await twoMachines();
  await second.fake.blobs.remove(digestOf(output));
  await expect(channel.unary(getActionResult, asked)).rejects.toMatchObject({ code: "not_found" });
});

test.each(["refused", "silent"] as const)(
  "without the farm (%s) there is none, within a second, and a new one is taken",
  async (how) => {
    const { second, channel, metadata } = await twoMachines();
    second.line.cut(how);
    const begun = performance.now();

    const missed = channel.unary(getActionResult, asked, { metadata });
    await expect(missed).rejects.toMatchObject({ code: "not_found" });
    const { responses } = await channel.unary(
      ContentAddressableStorage.method.batchReadBlobs,
      { instanceName: "p", digests: [toDigestMessage(digestOf(output))] },
      { metadata },
    );
    expect(responses[0]?.status?.code).toBe(5);
    expect(performance.now() - begun).toBeLessThan(10_000);

    await upload(channel, output);
    await channel.unary(updateActionResult, { ...asked, actionResult: result });
    expect((await channel.unary(getActionResult, asked)).outputFiles).toHaveLength(1);
  },
);

test("a result whose outputs were not uploaded is rejected, and they are listed", async () => {
  const channel = channelTo((await frontOver(await openCacheWith(noFarm()))).url);
  await expect(
    channel.unary(updateActionResult, { ...asked, actionResult: result }),
  ).rejects.toMatchObject({ code: "failed_precondition" });
});

test("a failed result is not stored", async () => {
  const stand = await openCacheWith(noFarm());
  const channel = channelTo((await frontOver(stand)).url);
  await channel.unary(updateActionResult, { ...asked, actionResult: { exitCode: 1 } });
  expect(stand.outbox).toEqual([]);
  await expect(channel.unary(getActionResult, asked)).rejects.toMatchObject({ code: "not_found" });
});

describe("execution", () => {
  const encode = {
    file: Buffer.from("a source"),
    command: toBinary(CommandSchema, create(CommandSchema, { arguments: ["true"] })),
  };
  const below = toBinary(
    DirectorySchema,
    create(DirectorySchema, {
      files: [{ name: "a.c", digest: toDigestMessage(digestOf(encode.file)) }],
    }),
  );
  const root = toBinary(
    DirectorySchema,
    create(DirectorySchema, {
      directories: [{ name: "src", digest: toDigestMessage(digestOf(below)) }],
    }),
  );
  const actionBytes = toBinary(
    ActionSchema,
    create(ActionSchema, {
      commandDigest: toDigestMessage(digestOf(encode.command)),
      inputRootDigest: toDigestMessage(digestOf(root)),
    }),
  );

  test("is passed to the farm unchanged, after its inputs", async () => {
    const seen: { instance: string; missing: number; metadata: unknown }[] = [];
    const all = [encode.file, encode.command, below, root, actionBytes];
    const fake = await fakeFarm({
      methods: methodsOf(Execution, {
        async *execute({ instanceName }, { metadata }) {
          const missing = await fake.blobs.findMissing(all.map((bytes) => digestOf(bytes)));
          seen.push({ instance: instanceName, missing: missing.length, metadata });
          yield { name: "operation/1" };
          yield { name: "operation/1", done: true };
        },
        async *waitExecution() {
          yield* [];
          throw new Fault("not_found", "there is no such operation");
        },
      }),
    });
    const farm = connectGranaryFarm({ server: fake.url, token: "t0", ca: undefined }, silentLogger);
    onTestFinished(() => farm.stop());
    const stand = await openCacheWith(farm);
    const channel = channelTo((await frontOver(stand, { relay: farm.relay })).url);
    for (const bytes of all) await upload(channel, bytes);

    const request = { instanceName: "p", actionDigest: toDigestMessage(digestOf(actionBytes)) };
    for (let n = 0; n < 2; n++) {
      const names: string[] = [];
      for await (const operation of channel.serverStream(Execution.method.execute, request, {
        metadata: { "x-of-the-tool": "yes", "x-grange-build": "b" },
      })) {
        names.push(`${operation.name} ${operation.done}`);
      }
      expect(names).toEqual(["operation/1 false", "operation/1 true"]);
    }

    expect(seen[0]).toMatchObject({ instance: "p", missing: 0 });
    expect(seen[0]?.metadata).toMatchObject({ authorization: "Bearer t0", "x-of-the-tool": "yes" });
    expect(seen[0]?.metadata).not.toHaveProperty("x-grange-build");
    const waiting = channel.serverStream(Execution.method.waitExecution, { name: "x" });
    await expect(waiting.next()).rejects.toMatchObject({ code: "not_found" });
    const { executionCapabilities } = await channel.unary(Capabilities.method.getCapabilities, {});
    expect(executionCapabilities?.execEnabled).toBe(true);
  });

  test("leaves outputs at the farm, and does not report them as lost, because Bazel would fail", async () => {
    const response = create(ExecuteResponseSchema, { result: create(ActionResultSchema, result) });
    const fake = await fakeFarm({
      methods: methodsOf(Execution, {
        async *execute() {
          yield {
            name: "operation/1",
            done: true,
            result: { case: "response", value: anyPack(ExecuteResponseSchema, response) },
          };
        },
        async *waitExecution() {
          yield* [];
          throw new Fault("not_found", "there is no such operation");
        },
      }),
    });
    const line = await slowLine(fake.port, { roundTripMs: 0 });
    onTestFinished(() => line.close());
    const server = `http://127.0.0.1:${line.port}`;
    const farm = connectGranaryFarm({ server, token: undefined, ca: undefined }, silentLogger);
    onTestFinished(() => farm.stop());
    const [builder, other] = [fakeBuild(), fakeBuild()];
    const options = { relay: farm.relay, builds: [builder, other] };
    const channel = channelTo((await frontOver(await openCacheWith(farm), options)).url);
    const metadata = { "x-grange-build": builder.id };
    const reading = async (id: string) => {
      const resourceName = `p/blobs/${digestOf(output).hash}/${output.length}`;
      const chunks: Uint8Array[] = [];
      const asked = { metadata: { "x-grange-build": id } };
      for await (const { data } of channel.serverStream(
        ByteStream.method.read,
        { resourceName },
        asked,
      ))
        chunks.push(data);
      return Buffer.concat(chunks).toString();
    };
    await upload(channel, actionBytes);
    const request = { instanceName: "p", actionDigest: toDigestMessage(digestOf(actionBytes)) };
    const executing = channel.serverStream(Execution.method.execute, request, { metadata });
    for await (const { done } of executing) expect(done).toBe(true);

    await fake.blobs.put(digestOf(output), output);
    const lacks = async (id: string) => {
      const about = { instanceName: "p", blobDigests: [toDigestMessage(digestOf(output))] };
      const method = ContentAddressableStorage.method.findMissingBlobs;
      const asked = { metadata: { "x-grange-build": id } };
      return (await channel.unary(method, about, asked)).missingBlobDigests.length;
    };
    expect([await lacks(builder.id), await lacks(other.id)]).toEqual([0, 1]);
    line.cut("refused");
    await expect(reading(builder.id)).rejects.toMatchObject({ code: "unavailable" });
    await expect(reading(other.id)).rejects.toMatchObject({ code: "not_found" });
    line.mend();
    // A result with an output that is only at the farm is as valid as one with all outputs here.
    const whole = () =>
      channel.unary(updateActionResult, { ...asked, actionResult: result }, { metadata });
    await vi.waitFor(whole, { timeout: 30_000 });
    expect(await reading(other.id)).toBe("an output");
  });

  test("is not offered without a farm", async () => {
    const channel = channelTo((await frontOver(await openCacheWith(noFarm()))).url);
    const request = create(ExecuteRequestSchema, { instanceName: "p" });
    const executing = channel.serverStream(Execution.method.execute, request);
    await expect(executing.next()).rejects.toMatchObject({ code: "unimplemented" });
    const { executionCapabilities } = await channel.unary(Capabilities.method.getCapabilities, {});
    expect(executionCapabilities?.execEnabled).toBe(false);
    expect(fromBinary(ExecuteRequestSchema, toBinary(ExecuteRequestSchema, request))).toEqual(
      request,
    );
  });
});
