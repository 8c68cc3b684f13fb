import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import { openDiskUploads } from "#cas/disk/disk-uploads.ts";
import { freshStore } from "./granary-store.fixture.ts";
import { packedUpToBytes } from "./packed-blobs.ts";
import { smallAtOnce } from "./small-uploads.ts";

const lost = new Error("the line is dead");

/** Yields bytes from `start`; then the stream fails, unless all bytes were sent. */
async function* until(end: number, from: Uint8Array, start = 0) {
  for (let at = start; at < end; at += 7_000) yield from.subarray(at, Math.min(end, at + 7_000));
  if (end < from.byteLength) throw lost;
}

async function freshUploads(mostBytes?: number) {
  const { store, directory } = await freshStore();
  const onDisk = await openDiskUploads(directory, store.blobs);
  const uploads = smallAtOnce(onDisk, store.blobs, mostBytes === undefined ? {} : { mostBytes });
  const begin = (bytes: Uint8Array, more: { end?: number; offset?: number } = {}) => {
    const { end = bytes.byteLength, offset = 0 } = more;
    const chunks = until(end, bytes, offset);
    const digest = digestOf(bytes);
    return uploads.receive({ name: digest.hash, digest, offset, chunks, interrupt() {} });
  };
  const asFile = (bytes: Uint8Array) => existsSync(store.blobs.path(digestOf(bytes)));
  return { store, directory, uploads, begin, asFile };
}

test.each([
  { size: 20_000, isFile: false },
  { size: packedUpToBytes, isFile: false },
  { size: packedUpToBytes + 1, isFile: true },
])("an upload of $size bytes is kept, with a file of its own: $isFile", async (given) => {
  const { store, directory, begin, asFile } = await freshUploads();
  const bytes = randomBytes(given.size);

  await begin(bytes);

  expect(Buffer.from((await store.blobs.get(digestOf(bytes))) ?? [])).toEqual(bytes);
  expect(asFile(bytes)).toBe(given.isFile);
  expect(await readdir(join(directory, "uploads"))).toEqual([]);
});

test("an interrupted small upload begins again, and a large one continues", async () => {
  const { store, uploads, begin } = await freshUploads();
  const small = randomBytes(20_000);
  const large = randomBytes(packedUpToBytes + 20_000);

  for (const bytes of [small, large])
    await expect(begin(bytes, { end: 14_000 })).rejects.toThrow(lost.message);

  expect(await uploads.committed(digestOf(small).hash)).toBe(0);
  await expect(begin(small, { offset: 14_000 })).rejects.toMatchObject({ code: "out_of_range" });
  await begin(small);
  expect(await uploads.committed(digestOf(large).hash)).toBe(14_000);
  await begin(large, { offset: 14_000 });
  expect(await store.blobs.findMissing([small, large].map((bytes) => digestOf(bytes)))).toEqual([]);
});

test.each([
  { what: "other bytes", sent: Buffer.alloc(20_000, "b") },
  { what: "fewer bytes", sent: Buffer.alloc(19_999, "a") },
  { what: "more bytes", sent: Buffer.alloc(20_001, "a") },
])("$what than the digest's are refused", async ({ sent }) => {
  const { store, uploads } = await freshUploads();
  const digest = digestOf(Buffer.alloc(20_000, "a"));

  const upload = { name: "x", digest, offset: 0, chunks: until(sent.length, sent), interrupt() {} };
  const receiving = uploads.receive(upload);

  await expect(receiving).rejects.toMatchObject({ code: "invalid_argument" });
  expect(await store.blobs.findMissing([digest])).toEqual([digest]);
});

test("the memory of simultaneous uploads is limited: the rest is on the disk, and all of it arrives", async () => {
  const { store, begin, asFile } = await freshUploads(50_000);
  const all = [1, 2, 3].map(() => randomBytes(20_000));

  await Promise.all(all.map((bytes) => begin(bytes)));
  const later = randomBytes(20_000);
  await begin(later);

  expect(all.map(asFile)).toEqual([false, false, true]);
  expect(asFile(later)).toBe(false);
  const digests = [...all, later].map((bytes) => digestOf(bytes));
  expect(await store.blobs.findMissing(digests)).toEqual([]);
});

test("two simultaneous uploads of one blob both succeed", async () => {
  const { store, begin } = await freshUploads();
  const bytes = randomBytes(30_000);
  const before = (await store.usage()).blobs;

  await Promise.all([begin(bytes), begin(bytes)]);

  expect((await store.usage()).blobs).toBe(before + 1);
});
