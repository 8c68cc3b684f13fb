import { expect, test } from "vitest";
import { digestOf } from "./digest-of.ts";
import { memoryBlobStore } from "./memory-blob-store.ts";
import { recentBlobs } from "./recent-blobs.ts";

test("a small blob that came a moment ago is read without the store, one of another size is not", async () => {
  const base = memoryBlobStore();
  let reads = 0;
  const { store, recent } = recentBlobs({
    ...base,
    get: (digest) => {
      reads++;
      return base.get(digest);
    },
  });
  const small = Buffer.from("small");
  const large = Buffer.alloc(100_000);
  await store.put(digestOf(small), small);
  await store.put(digestOf(large), large);

  expect(await recent.get(digestOf(small))).toEqual(Uint8Array.from(small));
  expect(reads).toBe(0);
  expect((await recent.get(digestOf(large)))?.byteLength).toBe(100_000);
  expect(reads).toBe(1);
});

test("what was read once is remembered, what is missing is asked for again", async () => {
  const base = memoryBlobStore();
  const { recent } = recentBlobs(base);
  const bytes = Buffer.from("later");

  expect(await recent.get(digestOf(bytes))).toBeUndefined();
  await base.put(digestOf(bytes), bytes);

  expect(await recent.get(digestOf(bytes))).toEqual(Uint8Array.from(bytes));
});

test("who changes the bytes that it put changes nobody else's", async () => {
  const { store, recent } = recentBlobs(memoryBlobStore());
  const bytes = Buffer.from("mine");
  const digest = digestOf(bytes);
  await store.put(digest, bytes);

  bytes.fill(0);

  expect(Buffer.from((await recent.get(digest)) ?? []).toString()).toBe("mine");
});
