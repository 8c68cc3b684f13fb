import { mkdtemp, rename, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type Digest, emptyDigest } from "#core/digest.ts";
import { digestOf } from "../digest-of.ts";
import { openDiskBlobStore } from "./disk-blob-store.ts";
import { openDiskEviction } from "./disk-eviction.ts";
import { diskLayout } from "./disk-layout.ts";

const root = await mkdtemp(join(tmpdir(), "grange-evict-"));
afterAll(() => rm(root, { recursive: true }));

const hourMs = 60 * 60_000;
const ago = (ms: number) => new Date(Date.now() - ms);

async function aStore(texts: readonly string[]) {
  const directory = await mkdtemp(join(root, "store-"));
  const store = await openDiskBlobStore(directory);
  const digests: Digest[] = [];
  for (const text of texts) {
    const bytes = Buffer.from(text);
    await store.put(digestOf(bytes), bytes);
    await utimes(store.path(digestOf(bytes)), ago(9 * hourMs), new Date("2000-01-01"));
    digests.push(digestOf(bytes));
  }
  return { directory, store, digests, eviction: await openDiskEviction(directory) };
}

test("removes what nobody asked for, and keeps what somebody did", async () => {
  const { store, digests, eviction } = await aStore(["old", "wanted"]);
  const [old, wanted] = digests as [Digest, Digest];
  await store.findMissing([wanted]);

  const removed = await Promise.all(
    digests.map((each) => eviction.removeUnused(each, ago(3 * hourMs))),
  );

  expect(removed).toEqual([true, false]);
  expect(await store.findMissing(digests)).toEqual([old]);
  expect(await store.get(old)).toBeUndefined();
});

test("looking at a blob is no use of it; the empty one is always in use", async () => {
  const { digests, eviction } = await aStore(["a"]);
  const [a] = digests as [Digest];

  await eviction.look(a);

  expect((await eviction.look(a))?.lastUsedAt.getTime()).toBeLessThan(ago(8 * hourMs).getTime());
  expect(await eviction.removeUnused(emptyDigest, new Date(Date.now() + hourMs))).toBe(false);
});

test("a blob on its way out is missing for who asks, and there for who reads", async () => {
  const { directory, store, digests } = await aStore(["going", "x".repeat(2_000_000)]);
  const { path, leavingPath } = diskLayout(directory);
  for (const digest of digests) await rename(path(digest), leavingPath(digest));

  expect(await store.findMissing(digests)).toEqual(digests);
  for (const digest of digests) {
    expect((await store.get(digest))?.byteLength).toBe(digest.sizeBytes);
    let size = 0;
    for await (const chunk of (await store.read(digest)) ?? []) size += chunk.byteLength;
    expect(size).toBe(digest.sizeBytes);
  }
});

test("what a dead process was removing is put back by the next", async () => {
  const { directory, store, digests, eviction } = await aStore(["going"]);
  const { path, leavingPath } = diskLayout(directory);
  for (const digest of digests) await rename(path(digest), leavingPath(digest));

  await eviction.putBack();

  expect(await store.findMissing(digests)).toEqual([]);
});

test("whoever was told that a blob is here reads it, however many remove at that moment", async () => {
  const { directory, digests, eviction } = await aStore(
    Array.from({ length: 1_500 }, (_, i) => `blob ${i}`),
  );
  // Another server, on the same directory.
  const other = await openDiskEviction(directory);
  const reader = await openDiskBlobStore(directory);
  let told = 0;
  const lost: Digest[] = [];
  let next = 0;

  const read = async () => {
    for (let at = next++; at < digests.length; at = next++) {
      const digest = digests[at] as Digest;
      if ((await reader.findMissing([digest])).length > 0) continue;
      told++;
      for (let again = 0; again < 3; again++) {
        if ((await reader.get(digest)) === undefined) lost.push(digest);
      }
    }
  };
  const remove = async (by: typeof eviction) => {
    for (const digest of digests) await by.removeUnused(digest, ago(3 * hourMs));
  };
  await Promise.all([read(), read(), read(), remove(eviction), remove(other)]);

  expect(lost).toEqual([]);
  // Both must have removed some; otherwise the test tested nothing.
  expect(told).toBeGreaterThan(10);
  expect(told).toBeLessThan(digests.length);
});
