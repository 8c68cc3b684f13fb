import { randomBytes } from "node:crypto";
import {
  mkdir,
  mkdtemp,
  readdir,
  rename,
  rm,
  rmdir,
  stat,
  utimes,
  writeFile,
} from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { digestOf } from "../digest-of.ts";
import type { UploadStore } from "../upload-store.ts";
import { type DiskBlobStore, openDiskBlobStore } from "./disk-blob-store.ts";
import { openDiskUploads } from "./disk-uploads.ts";

const root = await mkdtemp(join(tmpdir(), "uploads-"));
afterAll(() => rm(root, { recursive: true }));

let directory: string;
let disk: DiskBlobStore;
let uploads: UploadStore;
beforeEach(async () => {
  directory = await mkdtemp(join(root, "store-"));
  disk = await openDiskBlobStore(directory);
  uploads = await openDiskUploads(directory, disk);
});

const bytes = randomBytes(100_000);
const digest = digestOf(bytes);
const name = "uploads/x/blobs/y";
const interrupt = () => {};
const lost = new Error("the line is dead");

/** Yields bytes from `start` to `end`; then the connection breaks, unless these are all. */
async function* until(end: number, start = 0, from: Uint8Array = bytes) {
  for (let at = start; at < end; at += 7_000) yield from.subarray(at, Math.min(end, at + 7_000));
  if (end < from.byteLength) throw lost;
}

function begin(end: number, offset = 0, from = bytes) {
  return uploads.receive({ name, digest, offset, chunks: until(end, offset, from), interrupt });
}

async function filesOfUploads(): Promise<string[]> {
  return readdir(join(directory, "uploads"));
}

test("keeps a blob that arrives whole, and nothing beside it", async () => {
  await begin(bytes.byteLength);

  expect(await disk.get(digest)).toEqual(bytes);
  expect((await stat(disk.path(digest))).mode & 0o777).toBe(0o444);
  expect((await stat(disk.path(digest))).mtime).toEqual(new Date("2000-01-01T00:00:00Z"));
  expect(await filesOfUploads()).toEqual([]);
});

test("goes on where it was broken off, however often and wherever that is", async () => {
  const points = fc.array(fc.integer({ min: 1, max: bytes.byteLength - 1 }), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(points, async (all) => {
      await disk.remove(digest);
      let at = 0;
      for (const end of [...new Set(all)].toSorted((a, b) => a - b)) {
        await expect(begin(end, at)).rejects.toThrow("dead");
        at = await uploads.committed(name);
        expect(at).toBe(end);
      }
      await begin(bytes.byteLength, at);

      expect(await disk.get(digest)).toEqual(bytes);
      expect(await filesOfUploads()).toEqual([]);
    }),
    { numRuns: 6 },
  );
});

test("goes on from an earlier place, and from the beginning", async () => {
  await expect(begin(50_000)).rejects.toThrow("dead");
  await expect(begin(60_000, 20_000)).rejects.toThrow("dead");
  expect(await uploads.committed(name)).toBe(60_000);

  await begin(bytes.byteLength);

  expect(await disk.findMissing([digest])).toEqual([]);
});

test("refuses to go on further than it is, and keeps what it has", async () => {
  await expect(begin(50_000)).rejects.toThrow("dead");

  await expect(begin(bytes.byteLength, 50_001)).rejects.toMatchObject({
    code: "out_of_range",
    message: expect.stringContaining("has 50000 bytes of it"),
  });

  expect(await uploads.committed(name)).toBe(50_000);
});

test("knows nothing of an upload that never was", async () => {
  expect(await uploads.committed("uploads/other/blobs/y")).toBe(0);
  await expect(begin(bytes.byteLength, 1)).rejects.toMatchObject({ code: "out_of_range" });
});

test("keeps nothing of bytes that are wrong", async () => {
  const wrong = randomBytes(bytes.byteLength);

  await expect(begin(bytes.byteLength, 0, wrong)).rejects.toMatchObject({
    code: "invalid_argument",
  });
  await expect(begin(200_000, 0, randomBytes(200_000))).rejects.toMatchObject({
    code: "invalid_argument",
  });

  expect(await filesOfUploads()).toEqual([]);
  expect(await disk.findMissing([digest])).toEqual([digest]);
});

test("asks to begin again when what was kept does not fit what came later", async () => {
  await expect(begin(50_000, 0, randomBytes(bytes.byteLength))).rejects.toThrow("dead");

  await expect(begin(bytes.byteLength, 50_000)).rejects.toMatchObject({
    code: "aborted",
    message: expect.stringContaining("begin the upload again at 0"),
  });

  expect(await uploads.committed(name)).toBe(0);
});

test("lets the latest of two callers go on, with all that the first one sent", async () => {
  let cut: (reason: Error) => void = () => {};
  const cutOff = new Promise<never>((_, reject) => {
    cut = reject;
  });
  let sent: () => void = () => {};
  const isSent = new Promise<void>((resolve) => {
    sent = resolve;
  });
  async function* stuck() {
    yield bytes.subarray(0, 30_000);
    sent();
    await cutOff;
  }
  const first = uploads.receive({
    name,
    digest,
    offset: 0,
    chunks: stuck(),
    interrupt: () => cut(lost),
  });
  const firstEnd = first.catch((reason: unknown) => String(reason));
  await isSent;
  expect(await uploads.committed(name)).toBe(30_000);

  await begin(bytes.byteLength, 30_000);

  expect(await firstEnd).toContain("the line is dead");
  expect(await disk.get(digest)).toEqual(bytes);
  expect(await filesOfUploads()).toEqual([]);
});

test("takes one blob from two callers at once who use one name", async () => {
  let goOn: () => void = () => {};
  const mayGoOn = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  async function* slow() {
    yield bytes.subarray(0, 30_000);
    await mayGoOn;
    yield bytes.subarray(30_000);
  }
  const first = uploads.receive({
    name,
    digest,
    offset: 0,
    chunks: slow(),
    interrupt: () => {
      throw new Error("it is alive");
    },
  });

  await begin(bytes.byteLength);
  goOn();
  await first;

  expect(await disk.get(digest)).toEqual(bytes);
  expect(await filesOfUploads()).toEqual([]);
});

test("does not read all of what is here for a call that another one has replaced", async () => {
  const whole = Buffer.alloc(40_000_000, bytes);
  const large = { name: "large", digest: digestOf(whole), interrupt };
  const half = async function* () {
    yield whole.subarray(0, 30_000_000);
    throw lost;
  };
  await expect(uploads.receive({ ...large, offset: 0, chunks: half() })).rejects.toThrow("dead");
  let asked = 0;
  const rest = async function* () {
    asked++;
    yield whole.subarray(30_000_000);
  };
  const calls = Array.from({ length: 5 }, () =>
    uploads.receive({ ...large, offset: 30_000_000, chunks: rest() }),
  );

  const ends = await Promise.allSettled(calls);

  expect(ends.map(({ status }) => status).toSorted()).toEqual([
    "fulfilled",
    ...Array.from({ length: 4 }, () => "rejected"),
  ]);
  expect(asked).toBe(1);
  expect(await disk.findMissing([large.digest])).toEqual([]);
});

test("what cannot be opened now can be gone on with later", async () => {
  await expect(begin(50_000)).rejects.toThrow("dead");
  const [key] = await filesOfUploads();
  const path = join(directory, "uploads", key ?? "");
  await rename(path, `${path}.aside`);
  await mkdir(path);
  await expect(begin(bytes.byteLength, 50_000)).rejects.toMatchObject({ name: "Fault" });
  await rmdir(path);
  await rename(`${path}.aside`, path);

  await begin(bytes.byteLength, 50_000);

  expect(await disk.findMissing([digest])).toEqual([]);
});

test("leaves alone what a living process gives its name at this moment", async () => {
  const file = join(directory, "uploads", `${process.ppid}~u~${encodeURIComponent(hostname())}~k`);
  await writeFile(file, "x");
  await utimes(file, new Date(), new Date("2000-01-01T00:00:00Z"));

  await uploads.sweep();

  expect(await filesOfUploads()).toHaveLength(1);
});

describe("with two servers on one directory", () => {
  test("an upload goes on at the other one", async () => {
    const other = await openDiskUploads(directory, await openDiskBlobStore(directory));
    await expect(begin(50_000)).rejects.toThrow("dead");

    expect(await other.committed(name)).toBe(50_000);
    const chunks = until(bytes.byteLength, 50_000);
    await other.receive({ name, digest, offset: 50_000, chunks, interrupt });

    expect(await disk.get(digest)).toEqual(bytes);
  });

  test("only one of them goes on with it", async () => {
    const other = await openDiskUploads(directory, disk);
    await expect(begin(50_000)).rejects.toThrow("dead");
    const goOn = (at: UploadStore) =>
      at.receive({
        name,
        digest,
        offset: 50_000,
        chunks: until(bytes.byteLength, 50_000),
        interrupt,
      });

    const ends = await Promise.allSettled([goOn(uploads), goOn(other)]);

    expect(ends.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(await disk.get(digest)).toEqual(bytes);
    expect(await filesOfUploads()).toEqual([]);
  });
});

test("goes on with what a killed process was writing, and leaves a living one's alone", async () => {
  await expect(begin(50_000)).rejects.toThrow("dead");
  const [key] = await filesOfUploads();
  const host = encodeURIComponent(hostname());
  await rm(join(directory, "uploads", key ?? ""));
  // No process has this id, because it exceeds every system's limit.
  await writeFile(
    join(directory, "uploads", `99999999~u~${host}~${key}`),
    bytes.subarray(0, 40_000),
  );
  const living = `${process.ppid}~u~${host}~other`;
  await writeFile(join(directory, "uploads", living), "x");

  uploads = await openDiskUploads(directory, disk);

  expect(await uploads.committed(name)).toBe(40_000);
  expect(await filesOfUploads()).toContain(living);
  await begin(bytes.byteLength, 40_000);
  expect(await disk.get(digest)).toEqual(bytes);
});

test("gives up the oldest when there are too many", async () => {
  const limits = { mostUploads: 2, mostBytes: 1_000_000, keptForMs: 60_000 };
  uploads = await openDiskUploads(directory, disk, limits);
  for (const each of ["a", "b", "c"]) {
    const chunks = until(10_000);
    await expect(
      uploads.receive({ name: each, digest, offset: 0, chunks, interrupt }),
    ).rejects.toThrow("dead");
  }

  expect(await filesOfUploads()).toHaveLength(2);
  expect(await uploads.committed("c")).toBe(10_000);
});
