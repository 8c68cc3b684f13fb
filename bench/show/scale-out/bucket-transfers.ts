import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BlobStorage } from "#cas/blob-storage.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { digestOf, startDigest } from "#cas/digest-of.ts";
import { ownNamespace } from "#cas/namespaces/namespace.ts";
import { openBlobStorage } from "#cas/open-blob-storage.ts";
import { systemClock } from "#core/clock.ts";
import type { Digest } from "#core/digest.ts";
import type { Db } from "#db/db.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import { blobIndex } from "#server/blob-storage/blob-index.store.ts";
import {
  type BucketServer,
  bucketServerNeed,
  startBucketServer,
} from "../../../test/support/bucket-server.ts";
import { diskDirectory } from "../../../test/support/disk-directory.ts";
import { findProgram } from "../../../test/support/needs/program.ts";
import { runProgram } from "../../../test/support/process.ts";
import { withBenchDatabase } from "../../bench-database.ts";
import { requireNeeds } from "../require-needs.ts";
import { atLeast, forInformation, type Measurement, type Row } from "../row.ts";

const mebibyte = 1024 ** 2;
const largeBytes = 1024 * mebibyte;
const smallCount = 10_000;
const smallBytes = 1_000;
const atOnce = 64;

/** A large blob through the bucket, beside the disk store and beside Amazon's own client. */
export const largeBlob: Measurement = {
  title: "1 GiB through a bucket",
  long: false,
  measure: () =>
    withBucket(async (places) => {
      const piece = randomBytes(mebibyte);
      async function* chunks() {
        for (let at = 0; at < largeBytes; at += mebibyte) yield piece;
      }
      const running = startDigest();
      for await (const chunk of chunks()) running.update(chunk);
      const digest = running.digest();
      const ours = await timesOf(places, {
        write: (store) => store.write(digest, chunks()),
        read: (store) => readWhole(store, digest),
      });
      const source = join(places.directory, "large");
      await writeFile(source, chunks());
      const own = await ownClientMs(places, source, []);
      return rowsOf("1 GiB", ours, own, 0.8);
    }),
};

/** Many small blobs, 64 at once. */
export const smallBlobs: Measurement = {
  title: "10,000 blobs of 1 kB through a bucket",
  long: false,
  measure: () =>
    withBucket(async (places) => {
      const blobs = Array.from({ length: smallCount }, () => {
        const bytes = randomBytes(smallBytes);
        return { digest: digestOf(bytes), bytes };
      });
      const ours = await timesOf(places, {
        async write(store) {
          await mapAtMost(atOnce, blobs, ({ digest, bytes }) => store.put(digest, bytes));
        },
        async read(store) {
          await mapAtMost(atOnce, blobs, async ({ digest }) => {
            if ((await store.get(digest)) === undefined) throw new Error("a blob is missing");
          });
        },
      });
      const source = join(places.directory, "small");
      await mkdir(source);
      await mapAtMost(atOnce, blobs, ({ digest, bytes }) =>
        writeFile(join(source, digest.hash), bytes),
      );
      const own = await ownClientMs(places, source, ["--recursive"]);
      return rowsOf("10,000 × 1 kB", ours, own, 0.5);
    }),
};

interface Places {
  readonly server: BucketServer;
  readonly directory: string;
  /** A new server of the farm, whose disk has no copies. */
  readonly openServer: () => Promise<BlobStorage>;
  readonly openDisk: () => Promise<BlobStorage>;
}

function withBucket(measure: (places: Places) => Promise<Row[]>): Promise<Row[]> {
  requireNeeds([bucketServerNeed]);
  return withBenchDatabase((db) => withServers(db, measure));
}

async function withServers(db: Db, measure: (places: Places) => Promise<Row[]>): Promise<Row[]> {
  const directory = await mkdtemp(join(diskDirectory(), "grange-transfers-"));
  const server = await startBucketServer();
  const opened: BlobStorage[] = [];
  const keep = (storage: BlobStorage) => {
    opened.push(storage);
    return storage;
  };
  const newDirectory = () => mkdtemp(join(directory, "store-"));
  const { bucket, endpoint, accessKeyId, secretAccessKey } = server;
  const credentials = { kind: "given", accessKeyId, secretAccessKey } as const;
  try {
    return await measure({
      server,
      directory,
      openDisk: async () =>
        keep(await openBlobStorage({ kind: "disk", directory: await newDirectory() })),
      openServer: async () =>
        keep(
          await openBlobStorage({
            kind: "bucket",
            location: { bucket, prefix: "", endpoint, region: "us-east-1", credentials },
            index: blobIndex(db, systemClock),
            directory: await newDirectory(),
            cacheBytes: 8 * largeBytes,
            onLost: () => {},
          }),
        ),
    });
  } finally {
    await Promise.all(opened.map((storage) => storage.stop()));
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/** How long each step took, in ms. */
interface Times {
  readonly write: number;
  readonly cold: number;
  readonly warm: number;
  readonly diskWrite: number;
  readonly diskRead: number;
}

async function timesOf(
  { openServer, openDisk }: Places,
  work: { write(store: BlobStore): Promise<void>; read(store: BlobStore): Promise<void> },
): Promise<Times> {
  const disk = await blobsOf(await openDisk());
  const one = await blobsOf(await openServer());
  const other = await blobsOf(await openServer());
  return {
    diskWrite: await timed(() => work.write(disk)),
    diskRead: await timed(() => work.read(disk)),
    write: await timed(() => work.write(one)),
    cold: await timed(() => work.read(other)),
    warm: await timed(() => work.read(other)),
  };
}

async function blobsOf(storage: BlobStorage): Promise<BlobStore> {
  const own = await storage.open(ownNamespace);
  if (own === undefined) throw new Error("a storage has no default project");
  return own.blobs;
}

async function readWhole(store: BlobStore, digest: Digest): Promise<void> {
  let bytes = 0;
  for await (const chunk of (await store.read(digest)) ?? []) bytes += chunk.byteLength;
  if (bytes !== digest.sizeBytes) throw new Error(`${bytes} bytes were read`);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** The time of `aws s3 cp` for the same files, there and back; undefined where it is not installed. */
async function ownClientMs(
  { server, directory }: Places,
  source: string,
  options: readonly string[],
): Promise<{ readonly write: number; readonly read: number } | undefined> {
  const aws = findProgram("aws");
  if (aws === undefined) return undefined;
  const env = {
    AWS_ACCESS_KEY_ID: server.accessKeyId,
    AWS_SECRET_ACCESS_KEY: server.secretAccessKey,
    AWS_DEFAULT_REGION: "us-east-1",
    AWS_EC2_METADATA_DISABLED: "true",
  };
  const copy = (from: string, to: string) =>
    timed(async () => {
      const args = ["s3", "cp", "--only-show-errors", ...options, from, to];
      const { code, stderr } = await runProgram(
        aws,
        ["--endpoint-url", server.endpoint.href, ...args],
        { env },
      );
      if (code !== 0) throw new Error(`aws s3 cp failed: ${stderr}`);
    });
  const remote = `s3://${server.bucket}/own`;
  return { write: await copy(source, remote), read: await copy(remote, join(directory, "back")) };
}

function rowsOf(
  what: string,
  { write, cold, warm, diskWrite, diskRead }: Times,
  own: { readonly write: number; readonly read: number } | undefined,
  goal: number,
): Row[] {
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`;
  const how = `one run, the bucket's server on the same machine; bucket ${seconds(write)} in, ${seconds(cold)} out cold, ${seconds(warm)} out warm; disk store ${seconds(diskWrite)} in, ${seconds(diskRead)} out`;
  const rows = [
    forInformation(`${what}: in, speed beside the disk store`, diskWrite / write, "×", how),
    forInformation(`${what}: out cold, speed beside the disk store`, diskRead / cold, "×", how),
    atLeast(`${what}: out warm, speed beside the disk store`, diskRead / warm, 0.95, "×", how),
  ];
  if (own === undefined) return rows;
  const beside = `${how}; aws s3 cp ${seconds(own.write)} in, ${seconds(own.read)} out`;
  return [
    ...rows,
    atLeast(`${what}: in, speed beside aws s3 cp`, own.write / write, goal, "×", beside),
    atLeast(`${what}: out cold, speed beside aws s3 cp`, own.read / cold, goal, "×", beside),
  ];
}
