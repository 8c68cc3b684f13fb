import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { digestOf } from "../digest-of.ts";
import { openDiskBlobStore } from "./disk-blob-store.ts";
import { syncFileSystem } from "./sync-file-system.ts";
import { syncTogether } from "./sync-together.ts";

const root = await mkdtemp(join(tmpdir(), "grange-durable-"));
afterAll(() => rm(root, { recursive: true }));

test("a file system can be synced again and again", async () => {
  const sync = syncFileSystem(root);
  for (let i = 0; i < 3; i++) await expect(sync()).resolves.toBeUndefined();
});

test("a directory that is not there is named, and does not end the next sync", async () => {
  const place = join(root, "gone");
  const sync = syncFileSystem(place);

  for (let i = 0; i < 2; i++)
    await expect(sync()).rejects.toMatchObject({
      code: "internal",
      message: expect.stringContaining(place),
    });
});

/** Returns a store whose syncs the test completes. */
async function aDurableStore() {
  const syncs: { end(): void; fail(): void }[] = [];
  const durable = syncTogether(
    () =>
      new Promise((resolve, reject) =>
        syncs.push({ end: resolve, fail: () => reject(new Error("the disk is gone")) }),
      ),
  );
  const opening = openDiskBlobStore(await mkdtemp(join(root, "store-")), { durable });
  // The file of the empty blob.
  await expect.poll(() => syncs.length).toBe(1);
  syncs[0]?.end();
  return { store: await opening, syncs };
}

const text = (content: string) => {
  const bytes = Buffer.from(content);
  return { bytes, digest: digestOf(bytes) };
};

test("no write ends before it is durable, and no check reports the blob as present before", async () => {
  const { store, syncs } = await aDurableStore();
  const { bytes, digest } = text("one");
  const over: string[] = [];

  const first = store.put(digest, bytes).then(() => over.push("put"));
  await expect.poll(() => syncs.length).toBe(2);
  const second = store.put(digest, bytes).then(() => over.push("put again"));
  const check = store.findMissing([digest]).then(() => over.push("found"));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(over).toEqual([]);

  syncs[1]?.end();
  await Promise.all([first, second, check]);
  expect(over.toSorted()).toEqual(["found", "put", "put again"]);
  expect(syncs).toHaveLength(2);
});

test("a hundred writes at once share two syncs; a failed one fails its writes", async () => {
  const { store, syncs } = await aDurableStore();

  const writes = Promise.allSettled(
    Array.from({ length: 100 }, (_, i) => {
      const { bytes, digest } = text(`blob ${i}`);
      return store.put(digest, bytes);
    }),
  );
  const ended = [0];
  for (;;) {
    const done = await Promise.race([
      writes.then(() => true),
      new Promise<false>((resolve) => setTimeout(() => resolve(false), 5)),
    ]);
    if (done) break;
    const at = syncs.length - 1;
    if (ended.includes(at)) continue;
    ended.push(at);
    syncs[at]?.end();
  }
  expect((await writes).every(({ status }) => status === "fulfilled")).toBe(true);
  expect(syncs.length).toBeLessThan(40);

  const { bytes, digest } = text("late");
  const failing = store.put(digest, bytes);
  const before = syncs.length;
  await expect.poll(() => syncs.length).toBe(before + 1);
  syncs.at(-1)?.fail();
  await expect(failing).rejects.toThrow("the disk is gone");
});
