import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, expect, test } from "vitest";
import { outputTrees } from "#actions/output-trees.ts";
import { digestOf } from "#cas/digest-of.ts";
import { openDiskBlobStore } from "#cas/disk/disk-blob-store.ts";
import { openNamespacedEviction } from "#cas/disk/namespaced-eviction.ts";
import { systemClock } from "#core/clock.ts";
import { takeLock } from "#machine/holder-lock.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { noClaims } from "./farm-claims.ts";
import { startEviction } from "./start-eviction.ts";
import { roundsInDirectory } from "./store-rounds.ts";

const root = await mkdtemp(join(tmpdir(), "grange-eviction-"));
afterAll(() => rm(root, { recursive: true }));
const db = await freshDb();
afterAll(() => db.close());

const dayAgo = () => new Date(Date.now() - 24 * 60 * 60_000);

async function aStore(blobs: number) {
  const directory = await mkdtemp(join(root, "store-"));
  const disk = await openDiskBlobStore(directory);
  for (let i = 0; i < blobs; i++) {
    const bytes = Buffer.from(`blob ${i}`.padEnd(1_000, "."));
    await disk.put(digestOf(bytes), bytes);
    await utimes(disk.path(digestOf(bytes)), dayAgo(), new Date("2000-01-01"));
  }
  const start = async (limitBytes: number | undefined) =>
    startEviction({
      db,
      blobsOf: () => disk,
      treesOf: () => outputTrees(disk),
      stored: await openNamespacedEviction(directory),
      pinned: noClaims,
      place: roundsInDirectory(directory),
      directory,
      limitBytes,
      everyMs: 10,
      clock: systemClock,
      logger: pino({ level: "silent" }),
    });
  return { directory, disk, start };
}

test("servers that share a store bring it under its limit, and each tells what went", async () => {
  const { directory, disk, start } = await aStore(40);
  const [one, two] = await Promise.all([start(20_000), start(20_000)]);
  try {
    await expect.poll(async () => (await two.standing()).evicted).not.toBeNull();

    const standing = await one.standing();
    const { bytes } = await disk.usage();
    expect(bytes).toBeLessThanOrEqual(20_000);
    expect(standing).toMatchObject({
      limitBytes: 20_000,
      counted: { bytes, blobs: 1 + bytes / 1_000, overBytes: 0 },
      evicted: { bytes: 40_000 - bytes, names: 0 },
      evictedInAll: { bytes: 40_000 - bytes },
    });
  } finally {
    await Promise.all([one.stop(), two.stop()]);
  }
  expect((await readdir(directory)).toSorted()).toEqual([
    "blobs",
    "eviction.json",
    "leaving",
    "temp",
  ]);
});

test("no blob is evicted while a backup copies blobs, and the store is brought under its limit afterwards", async () => {
  const [backedUp, other] = await Promise.all([aStore(40), aStore(40)]);
  const backup = await takeLock(join(backedUp.directory, "eviction.lock"), "grange backup");
  if ("holder" in backup) throw new Error("another process has the lock");
  const [waiting, control] = await Promise.all([backedUp.start(20_000), other.start(20_000)]);
  try {
    // Both had a turn when the other store has been brought under its limit.
    await expect.poll(async () => (await control.standing()).evicted).not.toBeNull();
    expect((await backedUp.disk.usage()).blobs).toBe(41);

    await backup.lock.release();

    await expect.poll(async () => (await waiting.standing()).evicted).not.toBeNull();
    expect((await backedUp.disk.usage()).bytes).toBeLessThanOrEqual(20_000);
  } finally {
    await Promise.all([waiting.stop(), control.stop(), backup.lock.release()]);
  }
});

test("without a limit the store is counted, and nothing goes", async () => {
  const { start } = await aStore(5);
  const eviction = await start(undefined);
  try {
    expect(await eviction.standing()).toMatchObject({ limitBytes: null, counted: null });
    await expect.poll(async () => (await eviction.standing()).counted).not.toBeNull();
    expect(await eviction.standing()).toMatchObject({ counted: { bytes: 5_000 }, evicted: null });
  } finally {
    await eviction.stop();
  }
});

test("notes that were cut short are none, and a lock of the dead holds nobody up", async () => {
  const { directory, start } = await aStore(5);
  await writeFile(join(directory, "eviction.json"), '{"counted":');
  await writeFile(join(directory, "eviction.lock"), "1 2 3\n");

  const eviction = await start(undefined);
  try {
    expect((await eviction.standing()).counted).toBeNull();
    await expect.poll(async () => (await eviction.standing()).counted).not.toBeNull();
  } finally {
    await eviction.stop();
  }
});
