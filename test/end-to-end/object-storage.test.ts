import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { remoteBuilder } from "#build-client/remote-builder.ts";
import { Digest, digestKey } from "#core/digest.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { remoteBlobStore } from "#grpc/remote-blob-store.ts";
import { ByteStream } from "#proto/google/bytestream/bytestream_pb.ts";
import type { CopiedBlobs } from "#server/blob-storage/copy-blobs.ts";
import {
  type BucketServer,
  bucketServerNeed,
  startBucketServer,
} from "../support/bucket-server.ts";
import { type Farm, grange, startFarm } from "../support/farm.ts";
import { farmDatabaseUrl } from "../support/farm-database-url.ts";
import { needs } from "../support/needs/needs.ts";
import { startProgram } from "../support/process.ts";
import { grangeJson, runGrange } from "../support/run-grange.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

/** Two servers with one database and one bucket; each has a disk of its own. */
let bucket: BucketServer;
let first: Farm;
let second: Farm;
let repository: SampleRepository;
let channels: readonly [GrpcChannel, GrpcChannel];

const mebibyte = 1024 ** 2;

function storeSettings(prefix = "main") {
  return {
    GRANGE_STORE: `s3://${bucket.bucket}/${prefix}`,
    GRANGE_STORE_ENDPOINT: bucket.endpoint.href,
    AWS_ACCESS_KEY_ID: bucket.accessKeyId,
    AWS_SECRET_ACCESS_KEY: bucket.secretAccessKey,
  };
}

async function setUp(): Promise<void> {
  bucket = await startBucketServer();
  first = await startFarm({ workers: 0, env: storeSettings() });
  const database = { GRANGE_DATABASE_URL: await farmDatabaseUrl(first) };
  [second, repository] = await Promise.all([
    startFarm({ workers: 1, env: { ...storeSettings(), ...database } }),
    sampleRepository({
      ".grange/farm.yml": `
version: 1
jobs:
  make: { commands: "echo made; head -c 3000000 /dev/urandom > large; date +%N > small", inputs: [], outputs: [large, small] }
  check: { commands: "cat small; test $(stat -c %s large) = 3000000", inputs: [], needs: [make] }
`,
    }),
  ]);
  channels = [new GrpcChannel({ url: first.url }), new GrpcChannel({ url: second.url })];
}

async function tearDown(): Promise<void> {
  await Promise.all(channels.map((channel) => channel.stop()));
  await second.stop();
  await first.stop();
  await bucket.stop();
  await repository.remove();
}

function blobOf(bytes: Buffer) {
  const hash = createHash("sha256").update(bytes).digest("hex");
  return { bytes, digest: Digest.parse({ hash, sizeBytes: bytes.length }) };
}

describe("two servers with one bucket", needs(bucketServerNeed), () => {
  beforeAll(setUp);
  afterAll(tearDown);

  test("a graph that is submitted at one runs on a worker of the other, and both show its logs", async () => {
    const { id } = await first.submit({ repository: repository.path });

    expect((await second.untilOver(id)).state).toBe("succeeded");
    expect(await first.log(id, "make")).toContain("made");
    const atFirst = await first.log(id, "check");
    expect(atFirst).toMatch(/^\d+$/m);
    expect(await second.log(id, "check")).toBe(atFirst);
  });

  test("a build tool has the result of an action at the other server, and its outputs", async () => {
    const outputs = [];
    for (const { url } of [first, second]) {
      const builder = remoteBuilder({
        url,
        project: "of-a-build-tool",
        invocation: `bucket-${outputs.length}`,
        tool: { name: "test", version: "1" },
      });
      const input = await builder.upload("in", Buffer.from("input"));
      const result = await builder.run({
        mnemonic: "Copy",
        target: "//copy",
        arguments: ["/bin/sh", "-c", "cat in > out; date +%N >> out"],
        environment: {},
        inputs: [input],
        outputs: ["out"],
      });
      outputs.push(result);
      await builder.close();
    }

    expect(outputs.map(({ exitCode, cached }) => ({ exitCode, cached }))).toEqual([
      { exitCode: 0, cached: false },
      { exitCode: 0, cached: true },
    ]);
    expect(outputs[1]?.outputs).toEqual(outputs[0]?.outputs);
    const made = outputs[0]?.outputs[0]?.digest;
    if (made === undefined) throw new Error("no output");
    const read = await Promise.all(
      channels.map((channel) => remoteBlobStore(channel, "of-a-build-tool").get(made)),
    );
    expect(Buffer.from(read[0] ?? []).toString()).toContain("input");
    expect(read[1]).toEqual(read[0]);
  });

  test("a large blob that is sent to one is read from the other, and an upload continues there", async () => {
    const [one, other] = channels;
    const large = blobOf(randomBytes(20 * mebibyte));
    async function* chunks() {
      for (let at = 0; at < large.bytes.length; at += mebibyte)
        yield large.bytes.subarray(at, at + mebibyte);
    }
    await remoteBlobStore(one, "").write(large.digest, chunks());
    const received = createHash("sha256");
    for await (const chunk of (await remoteBlobStore(other, "").read(large.digest)) ?? [])
      received.update(chunk);
    expect(received.digest("hex")).toBe(large.digest.hash);

    const { bytes, digest } = blobOf(randomBytes(4 * mebibyte));
    const resourceName = `uploads/5a/blobs/${digestKey(digest)}`;
    const send = (channel: GrpcChannel, from: number, to: number) =>
      channel.clientStream(ByteStream.method.write, messages(resourceName, bytes, from, to));
    const committed = async () =>
      Number(
        (await other.unary(ByteStream.method.queryWriteStatus, { resourceName })).committedSize,
      );

    await send(one, 0, 3 * mebibyte).catch(() => {});
    // The server sends the received part to the bucket when the call has ended.
    await expect.poll(committed).toBe(3 * mebibyte);
    await send(other, 3 * mebibyte, bytes.length);

    expect(await committed()).toBe(bytes.length);
    expect(await remoteBlobStore(one, "").findMissing([digest])).toEqual([]);
  });

  test("a server with blobs elsewhere is refused, and `server --check` says the same", async () => {
    const database = { GRANGE_DATABASE_URL: await farmDatabaseUrl(first) };
    const dataDir = await mkdtemp(join(tmpdir(), "grange-apart-"));
    for (const [env, place] of [
      [{ ...database }, join(dataDir, "blobs")],
      [{ ...database, ...storeSettings("other") }, `s3://${bucket.bucket}/other`],
    ] as const) {
      const args = ["server", "--data", dataDir, "--port", "0"];
      const apart = startProgram(process.execPath, [grange, ...args], { env });
      const { code, stdout } = await apart.finished;

      expect(code).toBe(1);
      const line = JSON.parse(stdout) as { error: { message: string } };
      expect(line.error.message).toContain(place);
      expect(line.error.message).toMatch(/share one store: .*its bucket in GRANGE_STORE/);

      const check = await runGrange([...args, "--check", "--json"], { env });
      expect(check.stdout).toContain("whose blobs are elsewhere");
    }
    await rm(dataDir, { recursive: true });
  });

  test("`server --check` tries what the server does with the bucket", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "grange-check-"));
    const check = async (settings: Record<string, string>) => {
      const { stdout } = await runGrange(
        ["server", "--data", dataDir, "--port", "0", "--check", "--json"],
        {
          env: {
            ...storeSettings(),
            GRANGE_DATABASE_URL: await farmDatabaseUrl(first),
            ...settings,
          },
        },
      );
      const { checks } = JSON.parse(stdout) as {
        checks: { group: string; name: string; status: string; detail: string }[];
      };
      return checks.find(({ name }) => name === "rights");
    };

    expect(await check({})).toMatchObject({
      status: "ok",
      detail: expect.stringContaining("written, read and removed"),
    });
    expect(await check({ AWS_SECRET_ACCESS_KEY: "wrong" })).toMatchObject({
      status: "fail",
      detail: expect.stringContaining("SignatureDoesNotMatch"),
    });
    await rm(dataDir, { recursive: true });
  });

  test("`grange store copy` moves a farm from its directory to a bucket, which is the farm's when no server runs", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "grange-moved-"));
    const before = await startFarm({ dataDir, workers: 1 });
    const { id } = await before.submit({ repository: repository.path });
    expect((await before.untilOver(id)).state).toBe("succeeded");
    const log = await before.log(id, "check");
    const damaged = blobOf(randomBytes(3_000));
    const channel = new GrpcChannel({ url: before.url });
    await remoteBlobStore(channel, "").put(damaged.digest, damaged.bytes);
    await channel.stop();
    const shard = join(dataDir, "blobs", "blobs", damaged.digest.hash.slice(0, 2));
    await writeFile(join(shard, damaged.digest.hash), randomBytes(3_000));
    const copy = async () => {
      const args = ["store", "copy", "--data", dataDir];
      const { copied, isComplete } = (await grangeJson(args, {
        env: storeSettings("moved"),
      })) as { copied: CopiedBlobs; isComplete: boolean };
      return { ...copied, isComplete };
    };

    const running = await copy();
    expect(running).toMatchObject({ damaged: 1, isComplete: false });
    expect(running.copied).toBeGreaterThan(2);
    await before.stop();
    const early = await runGrange(["server", "--data", dataDir, "--port", "0"], {
      env: storeSettings("moved"),
    });
    expect(early.stdout).toContain("whose blobs are elsewhere");

    const stopped = await copy();
    expect(stopped).toMatchObject({ blobs: running.blobs, damaged: 1, isComplete: true });
    expect(stopped.copied).toBeLessThan(running.copied);

    const after = await startFarm({ dataDir, workers: 0, env: storeSettings("moved") });
    expect(await after.log(id, "check")).toBe(log);
    await after.stop();
    await rm(dataDir, { recursive: true });
  });

  test("a backup is refused, and says what to do instead", async () => {
    const args = ["backup", join(tmpdir(), "never-written"), "--data", first.dataDir];
    const { code, stderr } = await runGrange(args, { env: storeSettings() });

    expect(code).not.toBe(0);
    expect(stderr).toMatch(/blobs of this farm are in a bucket.*pg_dump/s);
  });

  test("/readyz shows a bucket that does not answer; copies are still served", async () => {
    const { bytes, digest } = blobOf(randomBytes(2_000));
    const blobs = remoteBlobStore(channels[0], "");
    await blobs.put(digest, bytes);
    const bucketCheck = async () => {
      const answer = await fetch(`${first.url}/readyz`);
      const { checks } = (await answer.json()) as { checks: { name: string }[] };
      return { status: answer.status, ...checks.find(({ name }) => name === "bucket") };
    };
    expect(await bucketCheck()).toMatchObject({ status: 200, name: "bucket", ok: true });

    bucket.pause();
    await expect.poll(bucketCheck).toMatchObject({
      status: 200,
      ok: false,
      detail: "does not answer",
    });
    expect(Buffer.from((await blobs.get(digest)) ?? [])).toEqual(bytes);

    bucket.resume();
    await expect.poll(bucketCheck).toMatchObject({ status: 200, ok: true });
  });
});

async function* messages(resourceName: string, bytes: Buffer, from: number, to: number) {
  for (let at = from; at < to; at += mebibyte)
    yield {
      resourceName: at === from ? resourceName : "",
      writeOffset: BigInt(at),
      data: bytes.subarray(at, Math.min(at + mebibyte, to)),
      finishWrite: at + mebibyte >= bytes.length,
    };
}
