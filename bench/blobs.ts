/**
 * Blobs over gRPC into a disk store and out again, as a build tool sends them.
 *
 * `npx tsx bench/blobs.ts [MiB] [blobs]` takes about a minute with 1024 and 100000. The
 * client is a process of its own, so that memory is the server's alone; on two cores they
 * still share what hashing and HTTP/2 leave. Ratios are against copying the same bytes into
 * a file, and against files of 1 kB written straight to disk, in the same run.
 */
import { fork } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, open, rename, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { create, toBinary } from "@bufbuild/protobuf";
import { byteStreamService } from "#caches/rev2/byte-stream-service.ts";
import { casService } from "#caches/rev2/cas-service.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { openDiskBlobStore } from "#cas/disk/disk-blob-store.ts";
import { openDiskUploads } from "#cas/disk/disk-uploads.ts";
import { cachingExistence } from "#cas/existence-caching-blob-store.ts";
import { verifying } from "#cas/verifying-blob-store.ts";
import { zstdFrame } from "#cas/zstd/zstd-frame.ts";
import { systemClock } from "#core/clock.ts";
import { digestKey } from "#core/digest.ts";
import { dataOfReadResponse, writeRequest } from "#grpc/byte-stream-wire.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { grpcServer } from "#grpc/server.ts";
import { ContentAddressableStorage } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { ByteStream, ReadRequestSchema } from "#proto/google/bytestream/bytestream_pb.ts";

const mebibyte = 1_048_576;
const say = (line: string) => process.stdout.write(`${line}\n`);

if (process.send === undefined) await client();
else await serve(process.argv[2] ?? "");

async function serve(directory: string): Promise<void> {
  const disk = await openDiskBlobStore(directory);
  const blobs = cachingExistence(
    verifying(disk, async () => {}),
    systemClock,
    { ttlMs: 60_000, limit: 200_000 },
  );
  const uploads = await openDiskUploads(directory, disk);
  const methods = [
    ...casService(
      () => blobs,
      (reason) => say(String(reason)),
    ),
    ...byteStreamService(
      () => blobs,
      () => uploads,
    ),
  ];
  const server = grpcServer({ methods, onUnexpected: (reason) => say(String(reason)) });
  server.http2.listen(0, "127.0.0.1");
  await once(server.http2, "listening");
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  let most = 0;
  setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 50);
  process.on("message", () => {
    const cpu = process.cpuUsage();
    process.send?.({
      mib: most / mebibyte,
      held: delay.max / 1e6,
      cpu: (cpu.user + cpu.system) / 1e6,
    });
    delay.reset();
    most = process.memoryUsage.rss();
  });
  process.send?.({ port: (server.http2.address() as AddressInfo).port });
}

async function client(): Promise<void> {
  const directory = await mkdtemp(join(process.env["BENCH_DIR"] ?? tmpdir(), "bench-blobs-"));
  const child = fork(import.meta.filename, [join(directory, "store")]);
  const answered = async () => (await once(child, "message"))[0] as Record<string, number>;
  const { port } = await answered();
  const channel = new GrpcChannel({ url: `http://127.0.0.1:${port}` });
  let cpuBefore = 0;
  const measure = async (
    title: string,
    amount: number,
    unit: string,
    work: () => Promise<void>,
  ) => {
    const start = performance.now();
    await work();
    const seconds = (performance.now() - start) / 1_000;
    child.send({});
    const { mib = 0, held = 0, cpu = 0 } = await answered();
    say(
      `${title}: ${(amount / seconds).toFixed(0)} ${unit}; server at most ${mib.toFixed(0)} MiB, loop held ${held.toFixed(0)} ms, cpu ${(cpu - cpuBefore).toFixed(1)} s of ${seconds.toFixed(1)}`,
    );
    cpuBefore = cpu;
    return amount / seconds;
  };

  try {
    const count = Number(process.argv[2] ?? 1_024);
    // Compresses to about a half.
    const chunks = Array.from({ length: 16 }, () =>
      Buffer.concat([randomBytes(mebibyte / 2), Buffer.alloc(mebibyte / 2, "a line\n")]),
    );
    const chunkAt = (n: number) => chunks[n % chunks.length] as Buffer;
    for (const packed of [false, true]) {
      // A different blob, because the first one exists already.
      const first = packed ? randomBytes(mebibyte) : chunkAt(0);
      const pieces = (n: number) => (n === 0 ? first : chunkAt(n));
      const hash = createHash("sha256");
      for (let n = 0; n < count; n++) hash.update(pieces(n));
      const name = `${packed ? "compressed-blobs/zstd" : "blobs"}/${hash.digest("hex")}/${count * mebibyte}`;
      const packedChunks = packed ? await Promise.all(chunks.map(zstdFrame)) : chunks;
      const firstPacked = packed ? await zstdFrame(first) : first;
      async function* upload() {
        let writeOffset = 0;
        for (let n = 0; n < count; n++) {
          const data = n === 0 ? firstPacked : (packedChunks[n % chunks.length] as Uint8Array);
          const finishWrite = n === count - 1;
          const resourceName = n === 0 ? `uploads/x/${name}` : "";
          yield writeRequest({ resourceName, writeOffset, finishWrite, data });
          writeOffset += data.byteLength;
        }
      }
      const title = packed ? "zstd" : "plain";
      const mb = (count * mebibyte) / 1e6;
      await measure(`write ${title}`, mb, "MB/s", async () => {
        await channel.rawClientStream(ByteStream.method.write, upload());
      });
      await measure(`read ${title}`, mb, "MB/s", async () => {
        const request = create(ReadRequestSchema, { resourceName: name });
        const bytes = toBinary(ReadRequestSchema, request);
        let got = 0;
        for await (const message of channel.raw(ByteStream.method.read, [bytes])) {
          got += dataOfReadResponse(message).byteLength;
        }
        if (got === 0) throw new Error("nothing came");
      });
    }
    const start = performance.now();
    const file = await open(join(directory, "copy"), "wx");
    for (let n = 0; n < count; n++) {
      createHash("sha256").update(chunkAt(n)).digest();
      await file.writeFile(chunkAt(n));
    }
    await file.close();
    say(
      `hashed and written to a file: ${((count * mebibyte) / 1e3 / (performance.now() - start)).toFixed(0)} MB/s`,
    );
    await small(channel, join(directory, "files"), Number(process.argv[3] ?? 100_000), measure);
  } finally {
    await channel.stop();
    child.kill();
    await once(child, "exit");
    await rm(directory, { recursive: true });
  }
}

type Measure = (
  title: string,
  amount: number,
  unit: string,
  work: () => Promise<void>,
) => Promise<number>;

/** Blobs of 1 kB in batches of 1,000, four batches at once. */
async function small(channel: GrpcChannel, files: string, count: number, measure: Measure) {
  const all = Array.from({ length: count }, () => {
    const data = randomBytes(1_000);
    const digest = digestOf(data);
    return { data, digest, key: digestKey(digest), message: toDigestMessage(digest) };
  });
  const { batchUpdateBlobs, batchReadBlobs, findMissingBlobs } = ContentAddressableStorage.method;
  const inBatches = async (work: (part: typeof all) => Promise<void>) => {
    let next = 0;
    const lane = async () => {
      while (next < all.length) {
        const part = all.slice(next, next + 1_000);
        next += 1_000;
        await work(part);
      }
    };
    await Promise.all([lane(), lane(), lane(), lane()]);
  };
  const blobDigests = all.map(({ message }) => message);
  await measure("find missing, none here", count, "digests/s", async () => {
    for (let at = 0; at < count; at += 20_000) {
      await channel.unary(findMissingBlobs, { blobDigests: blobDigests.slice(at, at + 20_000) });
    }
  });
  const written = await measure("write small", count, "blobs/s", () =>
    inBatches(async (part) => {
      const requests = part.map(({ data, message }) => ({ digest: message, data }));
      const { responses } = await channel.unary(batchUpdateBlobs, { requests });
      for (const { status } of responses) if (status?.code !== 0) throw new Error(status?.message);
    }),
  );
  await measure("read small", count, "blobs/s", () =>
    inBatches(async (part) => {
      const digests = part.map(({ message }) => message);
      const { responses } = await channel.unary(batchReadBlobs, { digests });
      for (const { data } of responses) if (data.byteLength !== 1_000) throw new Error("not whole");
    }),
  );
  await measure("find missing, all here", count, "digests/s", async () => {
    for (let at = 0; at < count; at += 20_000) {
      await channel.unary(findMissingBlobs, { blobDigests: blobDigests.slice(at, at + 20_000) });
    }
  });

  await mkdir(files);
  const sample = all.slice(0, Math.min(count, 20_000));
  const start = performance.now();
  let next = 0;
  const lane = async () => {
    for (let blob = sample[next++]; blob !== undefined; blob = sample[next++]) {
      const path = join(files, blob.digest.hash);
      await writeFile(`${path}.aside`, blob.data);
      await rename(`${path}.aside`, path);
    }
  };
  await Promise.all(Array.from({ length: 16 }, lane));
  const rate = (sample.length * 1_000) / (performance.now() - start);
  say(
    `files written aside and renamed: ${rate.toFixed(0)}/s; ratio ${(written / rate).toFixed(2)}`,
  );
}
