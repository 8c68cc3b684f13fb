import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { BlobStorage } from "#cas/blob-storage.ts";
import { describeBlobStore } from "#cas/blob-store.fixture.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import type { BlobIndex } from "#cas/bucket/blob-index.ts";
import { openBucketStorage } from "#cas/bucket/bucket-storage.ts";
import { openS3Bucket } from "#cas/bucket/s3-bucket.ts";
import type { S3Times } from "#cas/bucket/s3-exchange.ts";
import { Namespace, ownNamespace } from "#cas/namespaces/namespace.ts";
import { systemClock } from "#core/clock.ts";
import { Digest, digestFrom } from "#core/digest.ts";
import type { Db } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import {
  type BucketServer,
  bucketServerNeed,
  startBucketServer,
} from "../../../test/support/bucket-server.ts";
import {
  type BucketFault,
  type FaultyBucket,
  faultyBucket,
} from "../../../test/support/faulty-bucket.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { needs } from "../../../test/support/needs/needs.ts";
import { seededDraws } from "../../../test/support/seeded-draws.ts";
import { blobIndex } from "./blob-index.store.ts";

const db = await freshDb();
const index = blobIndex(db, systemClock);
const mebibyte = 1024 ** 2;
let server: BucketServer;
let proxy: FaultyBucket;
let top: string;
const opened: BlobStorage[] = [];
const lost: string[] = [];

afterAll(() => db.close());

async function setUp(): Promise<void> {
  top = await mkdtemp(join(tmpdir(), "grange-copies-"));
  server = await startBucketServer();
  proxy = await faultyBucket(server.endpoint);
}

async function tearDown(): Promise<void> {
  await Promise.all(opened.map((storage) => storage.stop()));
  await proxy.close();
  await server.stop();
  await rm(top, { recursive: true, force: true });
}

/** A server of the farm: a disk of its own, the farm's bucket and database. */
async function openServer(
  options: {
    endpoint?: URL;
    prefix?: string;
    cacheBytes?: number;
    directory?: string;
    times?: S3Times;
    index?: BlobIndex;
  } = {},
) {
  const { endpoint = server.endpoint, prefix = "", cacheBytes = 1024 ** 3, times } = options;
  const { bucket, accessKeyId, secretAccessKey } = server;
  const directory = options.directory ?? (await mkdtemp(join(top, "server-")));
  const credentials = { kind: "given", accessKeyId, secretAccessKey } as const;
  const storage = await openBucketStorage({
    bucket: openS3Bucket({ bucket, prefix, endpoint, region: "us-east-1", credentials }, times),
    index: options.index ?? index,
    directory,
    cacheBytes,
    onLost: (_, { hash }) => lost.push(hash),
  });
  opened.push(storage);
  return { storage, directory };
}

async function blobsOf(storage: BlobStorage) {
  const own = await storage.open(ownNamespace);
  if (own === undefined) throw new Error("unreachable");
  return own;
}

let projects = 0;
const newProject = () => Namespace.parse(`projects/test-${++projects}`);

function blobOf(bytes: Buffer) {
  const hash = createHash("sha256").update(bytes).digest("hex");
  return { bytes, digest: Digest.parse({ hash, sizeBytes: bytes.length }) };
}

async function* cut(bytes: Uint8Array, size = 65_536): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += size) yield bytes.subarray(at, at + size);
}

async function readAll(store: Pick<BlobStore, "read">, digest: Digest, offset = 0) {
  const chunks = await store.read(digest, { offset });
  if (chunks === undefined) return undefined;
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

/** The files of all objects of the bucket. */
async function objects() {
  const found = await readdir(server.directory, { recursive: true, withFileTypes: true });
  return found.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
}

describe("with a bucket", needs(bucketServerNeed), () => {
  beforeAll(setUp);
  afterAll(tearDown);
  beforeEach(() => {
    lost.length = 0;
    proxy.decide = () => undefined;
  });

  describeBlobStore("a bucket", async () => {
    const { storage } = await openServer();
    return (await storage.create(newProject())).blobs;
  });

  describeBlobStore("a bucket that is read through another server", async () => {
    const project = newProject();
    const one = await (await openServer()).storage.create(project);
    const other = await (await openServer()).storage.create(project);
    return {
      ...other.blobs,
      put: (digest, bytes) => one.blobs.put(digest, bytes),
      write: (digest, chunks) => one.blobs.write(digest, chunks),
    };
  });

  const draw = seededDraws(29);
  const faults: readonly BucketFault[] = [
    { kind: "answer", status: 500, code: "InternalError" },
    { kind: "answer", status: 503, code: "SlowDown" },
    { kind: "drop" },
    { kind: "lose answer" },
    { kind: "truncate" },
  ];
  describeBlobStore("a bucket of whose requests a third fails", async () => {
    proxy.decide = () => (draw() < 1 / 3 ? faults[Math.floor(draw() * faults.length)] : undefined);
    const { storage } = await openServer({ endpoint: proxy.endpoint });
    return (await storage.create(newProject())).blobs;
  });

  test("a large blob is sent in parts, and another server reads it and a part of it", async () => {
    const { digest, bytes } = blobOf(randomBytes(20 * mebibyte));
    const one = await blobsOf((await openServer()).storage);
    const other = await openServer();

    await one.blobs.write(digest, cut(bytes));

    const blobs = (await blobsOf(other.storage)).blobs;
    expect(
      (await readAll(blobs, digest, 19 * mebibyte))?.equals(bytes.subarray(19 * mebibyte)),
    ).toBe(true);
    expect((await readAll(blobs, digest))?.equals(bytes)).toBe(true);
    expect(
      await db.run(sql`delete from bucket_object where object like ${`%${digest.hash}%`}`),
    ).toBe(0);
  });

  test("a large blob survives lost answers to each step of its upload", async () => {
    const { digest, bytes } = blobOf(randomBytes(9 * mebibyte));
    const seen = new Set<string>();
    proxy.decide = (method, path) => {
      const step = `${method} ${path.replace(/uploadId=[^&]*/, "")}`;
      if (method === "GET" || seen.has(step)) return undefined;
      seen.add(step);
      return { kind: "lose answer" };
    };
    const faulty = await blobsOf((await openServer({ endpoint: proxy.endpoint })).storage);

    await faulty.blobs.write(digest, cut(bytes));

    proxy.decide = () => undefined;
    // After a lost answer to the last step, some servers no longer know the upload. Then HEAD finds the object.
    expect([...seen].filter((step) => !step.startsWith("HEAD"))).toHaveLength(4);
    const other = await blobsOf((await openServer()).storage);
    expect((await other.blobs.get(digest))?.byteLength).toBe(bytes.length);
  });

  test("a silent bucket fails a write within its limits of time, and nothing is acknowledged", async () => {
    const { digest, bytes } = blobOf(randomBytes(1_000));
    const times = { idleMs: 100, requestMs: 200, giveUpMs: 600 };
    const { storage } = await openServer({ endpoint: proxy.endpoint, times });
    proxy.decide = () => ({ kind: "silent" });
    const { blobs } = await blobsOf(storage);

    await expect(blobs.put(digest, bytes)).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("does not answer"),
    });

    proxy.decide = () => undefined;
    expect(await blobs.findMissing([digest])).toEqual([digest]);
  });

  test("a refused request names what to check", async () => {
    proxy.decide = () => ({ kind: "answer", status: 403, code: "AccessDenied" });
    const { storage } = await openServer({ endpoint: proxy.endpoint });

    await expect(storage.owner()).rejects.toMatchObject({
      code: "failed_precondition",
      message: expect.stringMatching(/AccessDenied.*Check the bucket's name/),
    });
    proxy.decide = () => undefined;
  });

  test("a blob whose object is corrupt or gone is missing from then on, and can be stored again", async () => {
    for (const spoil of [(path: string) => writeFile(path, "HELLO"), (path: string) => rm(path)]) {
      const { digest, bytes } = blobOf(Buffer.from(`hello ${projects++}`));
      const one = await blobsOf((await openServer()).storage);
      await one.blobs.put(digest, bytes);
      const [object = ""] = (await objects()).filter((path) => path.includes(digest.hash));
      await spoil(object);
      const other = await blobsOf((await openServer()).storage);

      await expect(readAll(other.blobs, digest)).rejects.toMatchObject({ name: "Fault" });

      expect(lost).toContain(digest.hash);
      expect(await one.blobs.findMissing([digest])).toEqual([digest]);
      await other.blobs.put(digest, bytes);
      expect(await readAll((await blobsOf((await openServer()).storage)).blobs, digest)).toEqual(
        bytes,
      );
    }
  });

  test("a small blob needs two round trips to the database, a known one needs one, a copy none", async () => {
    let statements = 0;
    const counted: Db = {
      ...db,
      many: (...args) => {
        statements++;
        return db.many(...args);
      },
      run: (statement) => {
        statements++;
        return db.run(statement);
      },
    };
    const statementsOf = async (work: () => Promise<unknown>) => {
      const before = statements;
      await work();
      return statements - before;
    };
    const { storage } = await openServer({ index: blobIndex(counted, systemClock) });
    const { blobs } = await blobsOf(storage);
    const { digest, bytes } = blobOf(randomBytes(1_000));

    expect(await statementsOf(() => blobs.put(digest, bytes))).toBe(2);
    expect(await statementsOf(() => blobs.put(digest, bytes))).toBe(1);
    expect(await statementsOf(() => blobs.get(digest))).toBe(0);

    const far = await openServer({ index: blobIndex(counted, systemClock) });
    const elsewhere = (await blobsOf(far.storage)).blobs;
    expect(await statementsOf(() => elsewhere.get(digest))).toBe(1);
    expect(await statementsOf(() => elsewhere.get(digest))).toBe(0);
    expect(
      await db.run(sql`delete from bucket_object where object like ${`%${digest.hash}%`}`),
    ).toBe(0);
  });

  test("a caller with many blobs need not wait until the index names one that the bucket has", async () => {
    let onWritten = () => {};
    const written = new Promise<void>((resolve) => {
      onWritten = resolve;
    });
    // It names a blob only after the caller may begin with the next one.
    const waiting: BlobIndex = {
      ...index,
      name: (...args) => written.then(() => index.name(...args)),
    };
    const { blobs } = await blobsOf((await openServer({ index: waiting })).storage);
    const { digest, bytes } = blobOf(randomBytes(1_000));

    await blobs.put(digest, bytes, onWritten);

    expect(await blobs.findMissing([digest])).toEqual([]);
  });

  test("readers of one small blob at the same time share its transfer", async () => {
    const { digest, bytes } = blobOf(randomBytes(300_000));
    await (await blobsOf((await openServer()).storage)).blobs.put(digest, bytes);
    const { blobs } = await blobsOf((await openServer({ endpoint: proxy.endpoint })).storage);
    let requests = 0;
    proxy.decide = () => {
      requests++;
      return undefined;
    };

    const read = await Promise.all(Array.from({ length: 5 }, () => blobs.get(digest)));

    for (const each of read) expect(Buffer.from(each ?? [])).toEqual(bytes);
    expect(requests).toBe(1);
  });

  test("a reader does not share a lookup that began before the blob was stored", async () => {
    const { digest, bytes } = blobOf(randomBytes(1_000));
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    let lookups = 0;
    const late: BlobIndex = {
      ...index,
      async find(namespace, wanted) {
        if (++lookups > 1) return index.find(namespace, wanted);
        const found = await index.find(namespace, wanted);
        begin();
        await ended;
        return found;
      },
    };
    const { blobs } = await blobsOf((await openServer({ index: late })).storage);
    const early = blobs.get(digest);
    await begun;
    await (await blobsOf((await openServer()).storage)).blobs.put(digest, bytes);

    const reading = blobs.get(digest);
    // By now it waits for the first lookup.
    await blobs.findMissing([digest]);
    end();

    expect(await early).toBeUndefined();
    expect(Buffer.from((await reading) ?? [])).toEqual(bytes);
  });

  test("a corrupt copy on the disk is removed, and the bucket's blob stays", async () => {
    const { digest, bytes } = blobOf(randomBytes(5_000));
    const { storage, directory } = await openServer();
    const { blobs } = await blobsOf(storage);
    await blobs.put(digest, bytes);
    const copy = join(directory, "blobs", digest.hash.slice(0, 2), digest.hash);
    await rm(copy);
    await writeFile(copy, Buffer.alloc(5_000));

    await blobs.remove(digest);

    expect(await blobs.findMissing([digest])).toEqual([]);
    expect(Buffer.from((await blobs.get(digest)) ?? [])).toEqual(bytes);
  });

  test("of writers of one blob on two servers, all succeed, and the bucket keeps one object", async () => {
    const { digest, bytes } = blobOf(randomBytes(100_000));
    const [one, other] = [await openServer(), await openServer()];
    const stores = [await blobsOf(one.storage), await blobsOf(other.storage)];

    await Promise.all(
      [...stores, ...stores, ...stores].map(({ blobs }) => blobs.write(digest, cut(bytes))),
    );

    const kept = (await objects()).filter((path) => path.includes(digest.hash));
    expect(kept).toHaveLength(1);
    expect(await readFile(kept[0] ?? "")).toEqual(bytes);
  });

  test("the disk keeps what was used last, and everything can still be read", async () => {
    const { storage, directory } = await openServer({ cacheBytes: 4 * mebibyte });
    const { blobs } = await blobsOf(storage);
    const written = Array.from({ length: 10 }, () => blobOf(randomBytes(mebibyte)));

    // Some of them are copied while a round removes others.
    await Promise.all(written.map(({ digest, bytes }) => blobs.put(digest, bytes)));

    await expect.poll(() => bytesBelow(join(directory, "blobs"))).toBeLessThanOrEqual(4 * mebibyte);
    for (const { digest, bytes } of written)
      expect((await blobs.get(digest))?.byteLength).toBe(bytes.length);
  });

  test("eviction removes unused blobs from index and bucket, and spares a blob that was asked for", async () => {
    const { storage } = await openServer();
    const { blobs } = await blobsOf(storage);
    const [unused, asked] = [blobOf(randomBytes(100)), blobOf(randomBytes(100))];
    for (const { digest, bytes } of [unused, asked]) await blobs.put(digest, bytes);
    await db.run(sql`update bucket_blob set last_used_at = now() - interval '4 hours'`);
    const before = new Date(Date.now() - 3 * 60 * 60_000);
    await blobs.findMissing([asked.digest]);

    const { evictable } = storage;
    expect(await evictable.removeUnused(ownNamespace, unused.digest, before)).toBe(true);
    expect(await evictable.removeUnused(ownNamespace, asked.digest, before)).toBe(false);

    expect(await blobs.findMissing([unused.digest, asked.digest])).toEqual([unused.digest]);
    expect((await objects()).filter((path) => path.includes(unused.digest.hash))).toEqual([]);
    const listed = new Set<string>();
    for await (const { digest } of evictable.list()) listed.add(digest.hash);
    expect([listed.has(unused.digest.hash), listed.has(asked.digest.hash)]).toEqual([false, true]);
  });

  test("an object whose server died before it was a blob is removed later", async () => {
    const { storage } = await openServer();
    const { bucket, accessKeyId, secretAccessKey, endpoint } = server;
    const credentials = { kind: "given", accessKeyId, secretAccessKey } as const;
    const s3 = openS3Bucket({ bucket, prefix: "", endpoint, region: "us-east-1", credentials });
    await index.addUnnamed("blobs/default/aa/left");
    await s3.put("blobs/default/aa/left", Buffer.from("left"));
    s3.close();
    await storage.sweepUploads();
    expect((await objects()).filter((path) => path.endsWith("left"))).toHaveLength(1);
    await db.run(sql`update bucket_object set since = since - interval '1 day'`);

    await storage.sweepUploads();

    expect((await objects()).filter((path) => path.endsWith("left"))).toEqual([]);
  });

  test("an upload that breaks off at one server continues at another", async () => {
    const { digest, bytes } = blobOf(randomBytes(10 * mebibyte));
    const one = await blobsOf((await openServer()).storage);
    const other = await blobsOf((await openServer()).storage);
    const name = "project/uploads/1";
    async function* breaking() {
      yield* cut(bytes.subarray(0, 6 * mebibyte));
      throw new Error("the line went dead");
    }
    const upload = { name, digest, interrupt: () => {} };

    await expect(one.uploads.receive({ ...upload, offset: 0, chunks: breaking() })).rejects.toThrow(
      "dead",
    );
    const committed = await other.uploads.committed(name);
    await other.uploads.receive({
      ...upload,
      offset: committed,
      chunks: cut(bytes.subarray(committed)),
    });

    expect(committed).toBe(6 * mebibyte);
    expect((await readAll(one.blobs, digest))?.equals(bytes)).toBe(true);
    expect(await other.uploads.committed(name)).toBe(0);
  });

  test("blobs without a name, and hashes without a size, work as on a disk", async () => {
    const { storage } = await openServer();
    const one = await blobsOf(storage);
    const { digest, bytes } = blobOf(randomBytes(3 * mebibyte));

    expect(await one.unnamed.take(cut(bytes))).toEqual(digest);

    const other = await blobsOf((await openServer()).storage);
    expect(await other.unnamed.withHash(digest.hash)).toEqual(digest);
    expect(await other.unnamed.withHash("0".repeat(64))).toBeUndefined();
    expect((await other.blobs.get(digest))?.byteLength).toBe(bytes.length);
  });

  test("projects are apart, and one can be removed", async () => {
    const { storage } = await openServer();
    const project = newProject();
    expect(await storage.open(project)).toBeUndefined();
    const theirs = await storage.create(project);
    const { digest, bytes } = blobOf(randomBytes(50));
    await theirs.blobs.put(digest, bytes);

    expect(await (await blobsOf(storage)).blobs.findMissing([digest])).toEqual([digest]);
    expect(await storage.namespaces()).toContain(project);
    expect(await storage.remove(project, undefined)).toEqual({ blobs: 1, bytes: 50 });
    expect(await storage.remove(project, new Date(Date.now() + 60_000))).toEqual({
      blobs: 0,
      bytes: 0,
    });
    expect(await storage.open(project)).toBeUndefined();

    // A server that has the project open begins it again.
    await theirs.blobs.put(digest, bytes);
    expect(await storage.usage(project)).toEqual({ blobs: 1, bytes: 50 });
  });

  test("the bucket carries the id of its farm", async () => {
    const { storage } = await openServer({ prefix: "owned/" });
    const farm = "0b7e8d9a-3f52-4f0f-8a47-1d2c3e4f5a6b";
    expect(await storage.owner()).toBeUndefined();

    await storage.setOwner(farm);

    expect(await (await openServer({ prefix: "owned/" })).storage.owner()).toBe(farm);
    expect(await (await openServer({ prefix: "other/" })).storage.owner()).toBeUndefined();
  });

  test("BLAKE3 and other functions have objects of their own", async () => {
    const { storage } = await openServer();
    const { blobs } = await blobsOf(storage);
    const bytes = Buffer.from("by another function");
    const hex = createHash("sha512").update(bytes).digest("hex");
    const digest = digestFrom("sha512", hex, bytes.length);

    await blobs.put(digest, bytes);

    expect(await readAll((await blobsOf((await openServer()).storage)).blobs, digest)).toEqual(
      bytes,
    );
  });
});

async function bytesBelow(directory: string): Promise<number> {
  let bytes = 0;
  for (const each of await readdir(directory, { recursive: true, withFileTypes: true }))
    if (each.isFile())
      bytes += (await stat(join(each.parentPath, each.name)).catch(() => ({ size: 0 }))).size;
  return bytes;
}
