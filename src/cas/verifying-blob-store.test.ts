import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Digest } from "#core/digest.ts";
import { describeBlobStore } from "./blob-store.fixture.ts";
import type { ByteRange } from "./blob-store.ts";
import { digestOf } from "./digest-of.ts";
import { openDiskBlobStore } from "./disk/disk-blob-store.ts";
import { memoryBlobStore } from "./memory-blob-store.ts";
import { verifying } from "./verifying-blob-store.ts";

const root = await mkdtemp(join(tmpdir(), "grange-verifying-"));
afterAll(() => rm(root, { recursive: true }));

describeBlobStore("verifying", () => verifying(memoryBlobStore(), async () => {}));

/** Returns a disk with one large blob in which one byte has changed. */
async function rottenDisk() {
  const disk = await openDiskBlobStore(await mkdtemp(join(root, "store-")));
  const bytes = randomBytes(3_000_000);
  const digest = digestOf(bytes);
  await disk.put(digest, bytes);
  await rot(disk.path(digest), bytes);
  const corrupt: Digest[] = [];
  const store = verifying(disk, async (lost) => {
    corrupt.push(lost);
    await disk.remove(lost);
  });
  return { store, disk, digest, bytes, corrupt };
}

async function rot(path: string, bytes: Buffer): Promise<void> {
  const changed = Buffer.from(bytes);
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
  await rm(path);
  await writeFile(path, changed);
}

test("a corrupt blob is reported, removed, and missing from then on", async () => {
  const { store, digest, corrupt } = await rottenDisk();

  await expect(store.get(digest)).rejects.toMatchObject({ code: "data_loss" });

  expect(corrupt).toEqual([digest]);
  expect(await store.get(digest)).toBeUndefined();
  expect(await store.findMissing([digest])).toEqual([digest]);
});

test.each<[string, ByteRange | undefined]>([
  ["the whole", undefined],
  ["a part with the turned byte", { offset: 2_999_000 }],
  ["a part without it", { offset: 0, limit: 10 }],
])("nobody gets all of %s of a corrupt blob", async (_, range) => {
  const { store, digest, bytes, corrupt } = await rottenDisk();
  let received = 0;

  const reading = async () => {
    for await (const chunk of (await store.read(digest, range)) ?? []) received += chunk.byteLength;
  };
  await expect(reading()).rejects.toMatchObject({ code: "data_loss" });

  expect(received).toBeLessThan(range ? 1 : bytes.length);
  expect(corrupt).toEqual([digest]);
  expect(await store.findMissing([digest])).toEqual([digest]);
});

test("a part of an intact blob on a disk is read, and an absent blob stays absent", async () => {
  const disk = await openDiskBlobStore(await mkdtemp(join(root, "store-")));
  const store = verifying(disk, (lost) => disk.remove(lost));
  const bytes = randomBytes(3_000_000);
  await disk.put(digestOf(bytes), bytes);

  const parts: Uint8Array[] = [];
  const range = { offset: 2_999_990 };
  for await (const part of (await store.read(digestOf(bytes), range)) ?? []) parts.push(part);

  expect(Buffer.concat(parts)).toEqual(bytes.subarray(range.offset));
  expect(await store.read(digestOf(randomBytes(20)), { offset: 1 })).toBeUndefined();
});

test("parts of one blob cost one check", async () => {
  const base = memoryBlobStore();
  const bytes = randomBytes(100);
  await base.put(digestOf(bytes), bytes);
  let wholeReads = 0;
  const store = verifying(
    {
      ...base,
      read: (digest, range) => {
        if (range === undefined) wholeReads++;
        return base.read(digest, range);
      },
    },
    async () => {},
  );

  for (const offset of [1, 2, 3]) await store.read(digestOf(bytes), { offset });

  expect(wholeReads).toBe(1);
});

test("of 100 blobs that were flipped, cut or swapped on disk, none is served", async () => {
  const disk = await openDiskBlobStore(await mkdtemp(join(root, "store-")));
  const store = verifying(disk, (lost) => disk.remove(lost));
  const blobs = Array.from({ length: 100 }, (_, i) => randomBytes(100 + i));
  for (const [i, bytes] of blobs.entries()) {
    const path = disk.path(digestOf(bytes));
    await disk.put(digestOf(bytes), bytes);
    await rm(path);
    const flipped = Buffer.from(bytes);
    flipped[i] = (flipped[i] ?? 0) ^ 0x10;
    const other = randomBytes(bytes.length);
    await writeFile(path, [flipped, bytes.subarray(0, i), other][i % 3] ?? other);
  }

  const served = await Promise.allSettled(blobs.map((bytes) => store.get(digestOf(bytes))));

  expect(served.filter((s) => s.status === "fulfilled" && s.value !== undefined)).toEqual([]);
  expect(await store.findMissing(blobs.map((bytes) => digestOf(bytes)))).toHaveLength(100);
});

test("readers of parts of one blob at once read it once to verify it", async () => {
  const bytes = randomBytes(100_000);
  const digest = digestOf(bytes);
  const base = memoryBlobStore();
  await base.put(digest, bytes);
  let whole = 0;
  const counted = {
    ...base,
    read: (of: Digest, range?: ByteRange) => {
      if (range === undefined) whole += 1;
      return base.read(of, range);
    },
  };
  const store = verifying(counted, async () => {});

  const parts = [0, 10, 20].map((offset) => store.read(digest, { offset, limit: 5 }));

  for (const part of await Promise.all(parts)) expect(part).toBeDefined();
  expect(whole).toBe(1);
});
