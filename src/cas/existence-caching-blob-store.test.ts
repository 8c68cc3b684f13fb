import { expect, test } from "vitest";
import { systemClock } from "#core/clock.ts";
import { type Digest, digestFrom } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { describeBlobStore } from "./blob-store.fixture.ts";
import type { BlobStore } from "./blob-store.ts";
import { digestOf } from "./digest-of.ts";
import { cachingExistence } from "./existence-caching-blob-store.ts";
import { memoryBlobStore } from "./memory-blob-store.ts";

const minute = { ttlMs: 60_000, limit: 1_000 };
const here = digestOf(new Uint8Array([1]));
const gone = digestOf(new Uint8Array([2]));

describeBlobStore("existence-caching", () =>
  cachingExistence(memoryBlobStore(), systemClock, minute),
);

/** Returns a store that has all blobs except `gone`, and records the requests that it gets. */
function asking(): { readonly base: BlobStore; readonly asked: Digest[][] } {
  const asked: Digest[][] = [];
  const base: BlobStore = {
    ...memoryBlobStore(),
    findMissing: async (digests) => {
      asked.push([...digests]);
      return digests.filter((d) => d === gone);
    },
  };
  return { base, asked };
}

test("asks again once a blob's minute is over", async () => {
  const { base, asked } = asking();
  let ms = 0;
  const store = cachingExistence(base, { now: () => new Date(ms) }, minute);

  // The cache is empty, so both are requested.
  expect(await store.findMissing([here, gone])).toEqual([gone]);

  // Within the minute only the missing one is requested again.
  ms = 59_999;
  expect(await store.findMissing([here, gone])).toEqual([gone]);

  // After the minute, both are requested again.
  ms = 60_000;
  await store.findMissing([here, gone]);
  expect(asked).toEqual([[here, gone], [gone], [here, gone]]);
});

test("forgets the oldest when more are seen than it may remember", async () => {
  const { base, asked } = asking();
  const store = cachingExistence(base, systemClock, { ttlMs: 60_000, limit: 2 });
  const [a, b, c] = ["a", "b", "c"].map((text) => digestOf(Buffer.from(text))) as [
    Digest,
    Digest,
    Digest,
  ];

  await store.findMissing([a, b, c]);
  await store.findMissing([b, c]);
  await store.findMissing([a]);

  expect(asked).toEqual([[a, b, c], [a]]);
});

test("does not ask for what was just put", async () => {
  const { base, asked } = asking();
  const store = cachingExistence(base, systemClock, minute);

  await store.put(here, new Uint8Array([1]));

  expect(await store.findMissing([here])).toEqual([]);
  expect(asked).toEqual([]);
});

test("is unsure of a blob again once a read does not find it", async () => {
  const { base, asked } = asking();
  const store = cachingExistence(base, systemClock, minute);
  await store.findMissing([here]);

  expect(await store.get(here)).toBeUndefined();
  await store.findMissing([here]);

  expect(asked).toHaveLength(2);
});

test("is unsure of a blob again once its stream breaks off", async () => {
  const { base, asked } = asking();
  const corrupt: BlobStore = {
    ...base,
    async read() {
      return (async function* () {
        yield new Uint8Array([9]);
        throw new Fault("data_loss", "the bytes have changed");
      })();
    },
  };
  const store = cachingExistence(corrupt, systemClock, minute);
  await store.findMissing([here]);

  const reading = async () => {
    for await (const _ of (await store.read(here)) ?? []);
  };
  await expect(reading()).rejects.toMatchObject({ code: "data_loss" });
  await store.findMissing([here]);

  expect(asked).toHaveLength(2);
});

test("does not claim what was found corrupt while somebody asked for it", async () => {
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  let present = true;
  const base: BlobStore = {
    ...memoryBlobStore(),
    async findMissing(digests) {
      if (!present) return [...digests];
      await answered;
      return [];
    },
    async get() {
      throw new Fault("data_loss", "its bytes have changed");
    },
  };
  const store = cachingExistence(base, systemClock, minute);

  const asked = store.findMissing([here]);
  await expect(store.get(here)).rejects.toMatchObject({ code: "data_loss" });
  present = false;
  answer();
  await asked;

  expect(await store.findMissing([here])).toEqual([here]);
});

test("a claim is not renewed by those who ask for it", async () => {
  const { base, asked } = asking();
  let ms = 0;
  const store = cachingExistence(base, { now: () => new Date(ms) }, minute);
  for (ms = 0; ms <= 60_000; ms += 10_000) await store.findMissing([here]);

  expect(asked).toEqual([[here], [here]]);
});

test("a blob of another size with the same hash is not the one that was seen", async () => {
  const { base, asked } = asking();
  const store = cachingExistence(base, systemClock, minute);
  const other = digestFrom("sha256", here.hash, here.sizeBytes + 1);
  await store.findMissing([here]);

  await store.findMissing([other]);
  await store.findMissing([here]);

  expect(asked.slice(0, 2)).toEqual([[here], [other]]);
});

test("a blob is not remembered when one of another size with its hash is missing", async () => {
  const other = digestFrom("sha256", here.hash, here.sizeBytes + 1);
  const asked: Digest[][] = [];
  const base: BlobStore = {
    ...memoryBlobStore(),
    async findMissing(digests) {
      asked.push([...digests]);
      return digests.filter((digest) => digest.sizeBytes === other.sizeBytes);
    },
  };
  const store = cachingExistence(base, systemClock, minute);

  expect(await store.findMissing([here, other])).toEqual([other]);
  expect(await store.findMissing([here, other])).toEqual([other]);

  expect(asked).toEqual([
    [here, other],
    [here, other],
  ]);
});
