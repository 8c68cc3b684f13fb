import { expect, test } from "vitest";
import { describeBlobStore } from "./blob-store.fixture.ts";
import { counting, noTraffic } from "./counting-blob-store.ts";
import { digestOf } from "./digest-of.ts";
import { memoryBlobStore } from "./memory-blob-store.ts";

describeBlobStore("counting", () => counting(memoryBlobStore(), noTraffic()));

test("counts what passes, and what does not", async () => {
  const traffic = noTraffic();
  const store = counting(memoryBlobStore(), traffic);
  const bytes = Buffer.from("12345");
  const digest = digestOf(bytes);

  await store.get(digest);
  await store.put(digest, bytes);
  await expect(store.put(digest, Buffer.from("1234x"))).rejects.toThrow("was expected");
  await store.get(digest);
  for await (const _ of (await store.read(digest, { offset: 3 })) ?? []);
  await store.findMissing([digest, digestOf(Buffer.from("other"))]);

  expect(traffic).toEqual({
    reads: 2,
    readMisses: 1,
    readFailures: 0,
    bytesRead: 7,
    writes: 1,
    writeFailures: 1,
    bytesWritten: 5,
    asked: 2,
    missing: 1,
  });
});
