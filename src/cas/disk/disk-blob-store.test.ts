import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { emptyDigest } from "#core/digest.ts";
import { needs } from "../../../test/support/needs/needs.ts";
import { smallDisk } from "../../../test/support/small-disk.ts";
import { describeBlobStore } from "../blob-store.fixture.ts";
import { digestOf } from "../digest-of.ts";
import { tempFileIn } from "../temp-file.ts";
import { openDiskBlobStore } from "./disk-blob-store.ts";

const root = await mkdtemp(join(tmpdir(), "grange-disk-"));
afterAll(() => rm(root, { recursive: true }));

const freshDirectory = () => mkdtemp(join(root, "store-"));
const hello = Buffer.from("hello");
const digest = digestOf(hello);

describeBlobStore("disk", async () => openDiskBlobStore(await freshDirectory()));

test("a blob outlives its store", async () => {
  const directory = await freshDirectory();
  await (await openDiskBlobStore(directory)).put(digest, hello);

  const again = await openDiskBlobStore(directory);

  expect(await again.get(digest)).toEqual(hello);
});

test("the file of a blob is read-only and bears a constant time", async () => {
  const store = await openDiskBlobStore(await freshDirectory());
  await store.put(digest, hello);

  const file = await stat(store.path(digest));

  expect(file.mode & 0o777).toBe(0o444);
  expect(file.mtime.toISOString()).toBe("2000-01-01T00:00:00.000Z");
  expect((await stat(store.path(emptyDigest))).size).toBe(0);
});

test("a blob that was cut short is missing, and can be put again", async () => {
  const store = await openDiskBlobStore(await freshDirectory());
  await store.put(digest, hello);
  // Blobs are read-only; without this, only root could truncate one.
  await chmod(store.path(digest), 0o644);
  await truncate(store.path(digest), 3);

  expect(await store.findMissing([digest])).toEqual([digest]);
  expect(await store.get(digest)).toBeUndefined();
  expect(await store.read(digest)).toBeUndefined();

  await store.put(digest, hello);
  expect(await store.get(digest)).toEqual(hello);
});

test("asking for a blob counts as using it", async () => {
  const store = await openDiskBlobStore(await freshDirectory());
  await store.put(digest, hello);
  const before = await stat(store.path(digest));
  await utimes(store.path(digest), new Date("2001-01-01"), before.mtime);

  await store.findMissing([digest]);

  const after = await stat(store.path(digest));
  expect(Date.now() - after.atimeMs).toBeLessThan(60_000);
  expect(after.mtimeMs).toBe(before.mtimeMs);
});

test("lists and counts what it keeps, strays left out", async () => {
  const directory = await freshDirectory();
  const store = await openDiskBlobStore(directory);
  await store.put(digest, hello);
  await writeFile(join(directory, "blobs", "2c", "notes.txt"), "not a blob");

  const listed = [];
  for await (const stored of store.list()) listed.push(stored.digest);

  expect(listed).toContainEqual(digest);
  const usage = await store.usage();
  expect(usage).toMatchObject({ blobs: 2, bytes: 5 });
  expect(usage.freeBytes).toBeGreaterThan(0);
});

test("a reader reads on while its blob is removed", async () => {
  const store = await openDiskBlobStore(await freshDirectory());
  const large = randomBytes(2_000_000);
  await store.put(digestOf(large), large);

  const parts: Uint8Array[] = [];
  for await (const chunk of (await store.read(digestOf(large))) ?? []) {
    if (parts.length === 0) await store.remove(digestOf(large));
    parts.push(chunk);
  }

  expect(Buffer.concat(parts).equals(large)).toBe(true);
  expect(await store.findMissing([digestOf(large)])).toHaveLength(1);
});

test("who takes no chunk holds no file open, and is told when the blob has gone since", async () => {
  const directory = await freshDirectory();
  const store = await openDiskBlobStore(directory);
  await store.put(digest, hello);

  const dropped = await store.read(digest);
  const gone = await store.read(digest, { offset: 1 });
  const stopped = (await store.read(digest))?.[Symbol.asyncIterator]();
  await stopped?.next();
  await stopped?.return?.();

  expect(dropped).toBeDefined();
  expect(await filesOpenIn(directory)).toEqual([]);
  await store.remove(digest);
  await expect(gone?.[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: "not_found" });
});

async function filesOpenIn(directory: string): Promise<string[]> {
  // Only Linux has this directory.
  const all = await readdir("/proc/self/fd").catch(() => []);
  const paths = await Promise.all(
    // The descriptor of the listing itself is closed by then.
    all.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "")),
  );
  return paths.filter((path) => path.startsWith(directory));
}

describe("what was left half-written", () => {
  test("is removed at start when its process is gone, or is long untouched", async () => {
    const directory = await freshDirectory();
    await openDiskBlobStore(directory);
    const temp = join(directory, "temp");
    const ofDeadProcess = tempFileIn(temp).replace(`${process.pid}~`, `${await deadPid()}~`);
    const ofFormerLife = tempFileIn(temp);
    const ofOtherMachine = join(temp, "1~x~another-host");
    for (const path of [ofDeadProcess, ofFormerLife, ofOtherMachine]) await writeFile(path, "half");
    await utimes(ofFormerLife, new Date("2001-01-01"), new Date("2001-01-01"));
    const longAgo = new Date(Date.now() - 2 * 60 * 60_000);
    await utimes(ofOtherMachine, longAgo, longAgo);

    await openDiskBlobStore(directory);

    expect(await readdir(temp)).toEqual([]);
  });

  test("stays while its writer may still be at it", async () => {
    const directory = await freshDirectory();
    await openDiskBlobStore(directory);
    const mine = tempFileIn(join(directory, "temp"));
    const theirs = join(directory, "temp", "1~x~another-host");
    for (const path of [mine, theirs]) await writeFile(path, "half");
    // It thus looks like a finished blob before it is renamed.
    await utimes(mine, new Date(), new Date("2000-01-01"));

    await openDiskBlobStore(directory);

    expect(await readdir(join(directory, "temp"))).toHaveLength(2);
  });

  test("is nothing after a refused or broken write", async () => {
    const directory = await freshDirectory();
    const store = await openDiskBlobStore(directory);
    async function* breaking() {
      yield hello.subarray(0, 2);
      throw new Error("gone");
    }

    await expect(store.put(digest, Buffer.from("HELLO"))).rejects.toThrow("was expected");
    await expect(store.write(digest, breaking())).rejects.toThrow("gone");

    expect(await readdir(join(directory, "temp"))).toEqual([]);
  });
});

test("a directory that is a file is said to be no place for blobs", async () => {
  const path = join(await freshDirectory(), "file");
  await writeFile(path, "");

  await expect(openDiskBlobStore(path)).rejects.toMatchObject({ name: "Fault" });
});

test("two stores on one directory see each other's blobs", async () => {
  const directory = await freshDirectory();
  const [one, other] = await Promise.all([
    openDiskBlobStore(directory),
    openDiskBlobStore(directory),
  ]);
  const blobs = Array.from({ length: 50 }, () => randomBytes(5_000));

  await Promise.all(blobs.flatMap((b) => [one.put(digestOf(b), b), other.put(digestOf(b), b)]));

  expect(await other.findMissing(blobs.map((bytes) => digestOf(bytes)))).toEqual([]);
  expect(await readdir(join(directory, "temp"))).toEqual([]);
});

test("says when a blob only waits for the sync, and stores it only after that", async () => {
  const directory = await freshDirectory();
  let endSync = () => {};
  const synced = new Promise<void>((resolve) => {
    endSync = resolve;
  });
  // The store writes its own file for the empty blob first.
  const syncs = [Promise.resolve(), synced];
  const store = await openDiskBlobStore(directory, {
    durable: () => syncs.shift() ?? Promise.resolve(),
  });
  let isStored = false;

  let putting = Promise.resolve();
  await new Promise<void>((resolve) => {
    putting = store.put(digest, hello, resolve).then(() => {
      isStored = true;
    });
  });
  const again = new Promise<void>((resolve) => void store.put(digest, hello, resolve));
  await again;

  expect(await readFile(store.path(digest))).toEqual(hello);
  expect(isStored).toBe(false);
  endSync();
  await putting;
});

describe("on a full disk", needs(smallDisk), () => {
  const directory = join(root, "small");
  beforeAll(async () => {
    await mkdir(directory);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", directory]);
  });
  afterAll(() => {
    execFileSync("umount", [directory]);
  });

  test("a blob too many is refused by name, leaves nothing, and the store works on", async () => {
    const store = await openDiskBlobStore(directory);
    const tooLarge = randomBytes(3_000_000);
    const full = { code: "resource_exhausted", message: expect.stringContaining(directory) };

    await expect(store.put(digestOf(tooLarge), tooLarge)).rejects.toMatchObject(full);
    await expect(
      store.write(
        digestOf(tooLarge),
        (async function* () {
          yield tooLarge;
        })(),
      ),
    ).rejects.toMatchObject(full);

    expect(await store.findMissing([digestOf(tooLarge)])).toHaveLength(1);
    expect(await readdir(join(directory, "temp"))).toEqual([]);
    await store.put(digest, hello);
    expect(await store.get(digest)).toEqual(hello);
  });
});

async function deadPid(): Promise<number> {
  const child: ChildProcess = spawn(process.execPath, ["-e", ""], { stdio: "ignore" });
  await new Promise((resolve) => child.once("exit", resolve));
  return child.pid ?? 0;
}
