import { chmod, mkdtemp, readdir, rm, stat, truncate, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, expect, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import { diskLayout } from "#cas/disk/disk-layout.ts";
import { anyMayBegin, openProjectBlobs } from "#cas/namespaces/project-blobs.ts";
import { openBlobStorage } from "#cas/open-blob-storage.ts";
import { systemClock } from "#core/clock.ts";
import { defaultProject } from "#core/default-project.ts";
import type { Digest } from "#core/digest.ts";
import { passToDo, startScrub } from "./start-scrub.ts";

const root = await mkdtemp(join(tmpdir(), "grange-scrub-"));
afterAll(() => rm(root, { recursive: true }));

async function aFarmsStore() {
  const directory = await mkdtemp(join(root, "store-"));
  const storage = await openBlobStorage({ kind: "disk", directory });
  const reported: string[] = [];
  const stores = await openProjectBlobs({
    storage,
    clock: systemClock,
    existence: { ttlMs: 3_600_000, limit: 1_000 },
    isCorrupt: (_, digest) => void reported.push(digest.hash),
  });
  const put = async (project: string, text: string) => {
    const bytes = Buffer.from(text);
    await stores.of(project, anyMayBegin).blobs.put(digestOf(bytes), bytes);
    return digestOf(bytes);
  };
  const { scrub } = storage;
  if (scrub === undefined) throw new Error("a disk can be checked");
  const start = (bytesPerSecond: number | undefined = 1e9) =>
    startScrub({
      scrub,
      stores,
      directory,
      bytesPerSecond,
      everyMs: 10,
      clock: systemClock,
      logger: pino({ level: "silent" }),
    });
  const namespaceOf = async (project: string) =>
    project === defaultProject ? directory : join(directory, (await storage.namespaces())[0] ?? "");
  const fileOf = async (project: string, digest: Digest) =>
    diskLayout(await namespaceOf(project)).path(digest);
  return { directory, storage, stores, put, start, fileOf };
}

async function overwrite(file: string, text: string) {
  await chmod(file, 0o644);
  await writeFile(file, text);
}

test("blobs that are corrupt, cut short or swapped are removed, in all projects, and count as missing at once", async () => {
  const { stores, put, start, fileOf } = await aFarmsStore();
  const whole = await Promise.all([put(defaultProject, "one"), put("apart", "two")]);
  const flipped = await put(defaultProject, "flipped");
  const short = await put("apart", "short");
  const swapped = await put(defaultProject, "swapped");
  await overwrite(await fileOf(defaultProject, flipped), "flopped");
  const cut = await fileOf("apart", short);
  await chmod(cut, 0o644);
  await truncate(cut, 2);
  await overwrite(await fileOf(defaultProject, swapped), "one");
  const own = stores.of(defaultProject, anyMayBegin).blobs;
  const apart = stores.of("apart", anyMayBegin).blobs;
  // Presence is cached for an hour in this test.
  expect(await own.findMissing([flipped, swapped])).toEqual([]);

  const scrub = start();
  await expect.poll(() => scrub.finished()).toMatchObject({ corrupt: 3 });
  await scrub.stop();

  expect(await own.findMissing([...whole.slice(0, 1), flipped, swapped])).toEqual([
    flipped,
    swapped,
  ]);
  expect(await apart.findMissing(whole.slice(1))).toEqual([]);
  await put(defaultProject, "flipped");
  expect(await own.findMissing([flipped])).toEqual([]);
});

test("a check is no use of a blob: its last use stays as it was", async () => {
  const { put, start, fileOf } = await aFarmsStore();
  const file = await fileOf(defaultProject, await put(defaultProject, "old"));
  const lastUse = new Date(Date.now() - 30 * 24 * 60 * 60_000);
  await utimes(file, lastUse, new Date("2000-01-01"));

  const scrub = start();
  await expect.poll(() => scrub.finished()).toMatchObject({ corrupt: 0 });
  await scrub.stop();

  expect((await stat(file)).atime).toEqual(lastUse);
});

test("a blob that was written anew since it was found corrupt stays", async () => {
  const { storage, put, fileOf } = await aFarmsStore();
  const digest = await put(defaultProject, "healed");
  await overwrite(await fileOf(defaultProject, digest), "hurted");
  const [namespace] = [await found(storage, digest)];
  await overwrite(await fileOf(defaultProject, digest), "healed");

  expect(await storage.scrub?.removeCorrupt(namespace, digest)).toBe(false);
  expect((await storage.open(namespace))?.blobs).toBeDefined();
  expect(await (await storage.open(namespace))?.blobs.findMissing([digest])).toEqual([]);
});

async function found(storage: Awaited<ReturnType<typeof openBlobStorage>>, digest: Digest) {
  for (const piece of (await storage.scrub?.pieces()) ?? [])
    for await (const blob of storage.scrub?.check(piece) ?? [])
      if (!blob.isIntact && blob.digest.hash === digest.hash) return blob.namespace;
  throw new Error("it was not found");
}

test("a pass that a stop interrupts goes on where it was, and servers share one", async () => {
  const { directory, put, start } = await aFarmsStore();
  for (let i = 0; i < 40; i++) await put(defaultProject, `blob ${i}`.padEnd(1_000, "."));

  // The rate allows one blob per second.
  const slow = start(1_000);
  await expect.poll(() => readdir(directory)).toContain("scrub.json");
  await slow.stop();
  expect(await slow.finished()).toBeNull();

  const both = [start(), start()];
  await expect.poll(() => both[0]?.finished()).toMatchObject({ blobs: 41, corrupt: 0 });
  await Promise.all(both.map((each) => each.stop()));
  expect(await both[1]?.finished()).toEqual(await both[0]?.finished());
});

test("a pass is due when none ever ended, and a week after the last", () => {
  const now = new Date("2026-03-10T00:00:00Z");
  const finished = (at: string) => ({
    pass: null,
    finished: { at, blobs: 1, bytes: 1, corrupt: 0 },
  });

  expect(passToDo({ pass: null, finished: null }, now)).toMatchObject({
    lastPiece: null,
    blobs: 0,
  });
  expect(passToDo(finished("2026-03-04T00:00:00Z"), now)).toBeUndefined();
  expect(passToDo(finished("2026-03-03T00:00:00Z"), now)).toMatchObject({ lastPiece: null });
  const begun = {
    begunAt: "2026-03-01T00:00:00Z",
    lastPiece: ":0f",
    blobs: 3,
    bytes: 9,
    corrupt: 0,
  };
  expect(passToDo({ pass: begun, finished: null }, now)).toEqual(begun);
});
