import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf, startDigest } from "#cas/digest-of.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { remoteBlobStore } from "#grpc/remote-blob-store.ts";
import { ContentAddressableStorage } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { type Farm, startFarm } from "../../../test/support/farm.ts";
import { forInformation, type Measurement, type Row } from "../row.ts";

const mebibyte = 1_048_576;
const largeMiB = 1_024;
const smallBlobs = 100_000;
const smallBytes = 1_000;
const inBatch = 1_000;
const batchesAtOnce = 4;

/** Large and small blobs over gRPC, into a farm on disk and out again. */
export const bytesOverGrpc: Measurement = {
  title: "1 GiB by ByteStream, 100,000 blobs of 1 kB by batches",
  long: false,
  async measure() {
    const farm = await startFarm({ workers: 0 });
    const channel = new GrpcChannel({ url: farm.url });
    try {
      return [...(await large(farm, channel)), ...(await small(farm, channel))];
    } finally {
      await channel.stop();
      await farm.stop();
    }
  },
};

async function large(farm: Farm, channel: GrpcChannel): Promise<Row[]> {
  const chunks = Array.from({ length: 16 }, () => randomBytes(mebibyte));
  const running = startDigest();
  const all = function* () {
    for (let n = 0; n < largeMiB; n++) yield chunks[n % chunks.length] as Buffer;
  };
  for (const chunk of all()) running.update(chunk);
  const digest = running.digest();
  const blobs = remoteBlobStore(channel, "");
  const written = await timed(() =>
    blobs.write(
      digest,
      (async function* () {
        yield* all();
      })(),
    ),
  );
  const read = await timed(async () => {
    let bytes = 0;
    for await (const chunk of (await blobs.read(digest)) ?? []) bytes += chunk.byteLength;
    if (bytes !== digest.sizeBytes) throw new Error(`${bytes} bytes came back`);
  });
  const mb = digest.sizeBytes / 1e6;
  const how = `${largeMiB} MiB of noise in messages of 1 MiB by our own client, which hashes nothing; the server hashes both ways`;
  return [
    forInformation("ByteStream.Write of 1 GiB", mb / written, "MB/s", how),
    forInformation("ByteStream.Read of 1 GiB", mb / read, "MB/s", how),
    await memoryRow(farm, "after 1 GiB in and out"),
  ];
}

async function small(farm: Farm, channel: GrpcChannel): Promise<Row[]> {
  const blobs = Array.from({ length: smallBlobs }, () => {
    const data = randomBytes(smallBytes);
    return { data, digest: toDigestMessage(digestOf(data)) };
  });
  const { batchUpdateBlobs, batchReadBlobs } = ContentAddressableStorage.method;
  const inBatches = async (work: (part: typeof blobs) => Promise<void>) => {
    let next = 0;
    const lane = async () => {
      while (next < blobs.length) {
        const part = blobs.slice(next, next + inBatch);
        next += inBatch;
        await work(part);
      }
    };
    await Promise.all(Array.from({ length: batchesAtOnce }, lane));
  };
  const written = await timed(() =>
    inBatches(async (requests) => {
      const { responses } = await channel.unary(batchUpdateBlobs, { requests });
      if (responses.some(({ status }) => (status?.code ?? 0) !== 0)) throw new Error("refused");
    }),
  );
  const read = await timed(() =>
    inBatches(async (part) => {
      const digests = part.map(({ digest }) => digest);
      const { responses } = await channel.unary(batchReadBlobs, { digests });
      if (responses.some(({ data }) => data.byteLength !== smallBytes))
        throw new Error("not whole");
    }),
  );
  const how = `${smallBlobs} of ${smallBytes} bytes, ${inBatch} a batch, ${batchesAtOnce} batches at once`;
  return [
    forInformation("BatchUpdateBlobs", smallBlobs / written, "blobs/s", how),
    forInformation("BatchReadBlobs", smallBlobs / read, "blobs/s", how),
    await memoryRow(farm, "after 100,000 small blobs in and out"),
  ];
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1_000;
}

/** The peak memory of the server's process, by the kernel. */
async function memoryRow(farm: Farm, when: string): Promise<Row> {
  const status = await readFile(`/proc/${farm.server.pid}/status`, "utf8");
  const peakMiB = Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) / 1_024;
  return forInformation(`server's memory at most, ${when}`, peakMiB, "MiB", "VmHWM of its process");
}
