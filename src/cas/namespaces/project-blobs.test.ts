import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { systemClock } from "#core/clock.ts";
import { defaultProject } from "#core/default-project.ts";
import { type Digest, digestKey, emptyDigest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { describeBlobStore } from "../blob-store.fixture.ts";
import { digestOf } from "../digest-of.ts";
import { diskLayout } from "../disk/disk-layout.ts";
import { openBlobStorage } from "../open-blob-storage.ts";
import { namespaceOf } from "./namespace.ts";
import { anyMayBegin, openProjectBlobs, type ProjectBlobs } from "./project-blobs.ts";

const root = await mkdtemp(join(tmpdir(), "grange-namespaces-"));
afterAll(() => rm(root, { recursive: true }));

const hello = Buffer.from("hello, project");
const digest = digestOf(hello);

async function someStores(options: { directory?: string; mostNamespaces?: number } = {}) {
  const directory = options.directory ?? (await mkdtemp(join(root, "store-")));
  const corrupt: string[] = [];
  const stores = await openProjectBlobs({
    ...options,
    storage: await openBlobStorage({ kind: "disk", directory }),
    clock: systemClock,
    existence: { ttlMs: 60_000, limit: 1_000 },
    isCorrupt: (project, blob) => corrupt.push(`${project} ${digestKey(blob)}`),
  });
  return { directory, stores, corrupt };
}

const blobsOf = (stores: ProjectBlobs, project: string) => stores.of(project, anyMayBegin).blobs;
const namespacesOf = (directory: string) => readdir(join(directory, "projects")).catch(() => []);

async function* inPieces(bytes: Uint8Array) {
  for (let at = 0; at < bytes.byteLength; at += 4) yield bytes.subarray(at, at + 4);
}

const upload = (name: string, of: Digest, bytes: Uint8Array) => ({
  name,
  digest: of,
  offset: 0,
  chunks: inPieces(bytes),
  interrupt() {},
});

describeBlobStore("one project's store", async () =>
  blobsOf((await someStores()).stores, "team/tools"),
);

test("what one project has, no other knows of, in any form", async () => {
  const { stores } = await someStores();
  await blobsOf(stores, "a").put(digest, hello);
  await blobsOf(stores, "b").put(digestOf(Buffer.from("b's own")), Buffer.from("b's own"));

  for (const project of ["b", "nobody's", defaultProject]) {
    const { blobs, recent, unnamed, uploads } = stores.of(project, anyMayBegin);
    expect(await blobs.findMissing([digest])).toEqual([digest]);
    expect(await recent.findMissing([digest])).toEqual([digest]);
    expect(await blobs.get(digest)).toBeUndefined();
    expect(await recent.get(digest)).toBeUndefined();
    expect(await blobs.read(digest)).toBeUndefined();
    expect(await unnamed.withHash(digest.hash)).toBeUndefined();
    expect(await uploads.committed("a/uploads/1/blobs/x")).toBe(0);
  }
  expect(await stores.of("a", anyMayBegin).recent.get(digest)).toEqual(new Uint8Array(hello));
});

test("what one project loses, another keeps", async () => {
  const { stores, directory, corrupt } = await someStores();
  for (const project of ["a", "b"]) await blobsOf(stores, project).put(digest, hello);
  const { path } = diskLayout(join(directory, namespaceOf("a")));
  await rm(path(digest));
  await writeFile(path(digest), "HELLO, project");

  await expect(blobsOf(stores, "a").get(digest)).rejects.toMatchObject({ code: "data_loss" });

  expect(corrupt).toEqual([`a ${digestKey(digest)}`]);
  expect(await blobsOf(stores, "a").findMissing([digest])).toEqual([digest]);
  expect(await blobsOf(stores, "b").get(digest)).toEqual(hello);
});

test("a blob whose bytes have changed is healed by whoever brings it again, before anybody reads it", async () => {
  for (const bring of ["put", "write"] as const) {
    const { stores, directory } = await someStores();
    const blobs = blobsOf(stores, "a");
    await blobs.put(digest, hello);
    const { path } = diskLayout(join(directory, namespaceOf("a")));
    await rm(path(digest));
    await writeFile(path(digest), "HELLO, project");

    await (bring === "put" ? blobs.put(digest, hello) : blobs.write(digest, inPieces(hello)));

    expect(await readFile(path(digest))).toEqual(hello);
    expect(await blobs.get(digest)).toEqual(hello);
  }
});

test("certain knows at once of what was removed behind the farm, and so do all from then on", async () => {
  const { stores, directory } = await someStores();
  const { blobs, certain } = stores.of("a", anyMayBegin);
  await blobs.put(digest, hello);
  await rm(diskLayout(join(directory, namespaceOf("a"))).path(digest));

  expect(await stores.of("a", anyMayBegin).certain.findMissing([digest])).toEqual([digest]);
  expect(await certain.findMissing([digest])).toEqual([digest]);
  expect(await blobs.findMissing([digest])).toEqual([digest]);
});

test("asking makes nothing; the empty blob is everywhere", async () => {
  const { stores, directory } = await someStores();
  const { blobs, unnamed, uploads } = stores.of("unheard-of", anyMayBegin);

  expect(await blobs.findMissing([emptyDigest, digest, digest])).toEqual([digest]);
  expect(await blobs.get(emptyDigest)).toEqual(new Uint8Array());
  await expect(blobs.read(digest, { offset: 99 })).rejects.toMatchObject({ code: "out_of_range" });
  await unnamed.withHash(digest.hash);
  await uploads.committed("unheard-of/uploads/1/blobs/x");

  expect(await namespacesOf(directory)).toEqual([]);
});

describe("who may not begin a project", () => {
  const mayNot = async () => {
    throw new Fault("permission_denied", "not you");
  };

  test("puts nothing into it, in no way", async () => {
    const { stores, directory } = await someStores();
    const { blobs, unnamed, uploads } = stores.of("a", mayNot);
    const refused = { code: "permission_denied" };

    await expect(blobs.put(digest, hello)).rejects.toMatchObject(refused);
    await expect(blobs.write(digest, inPieces(hello))).rejects.toMatchObject(refused);
    await expect(unnamed.take(inPieces(hello))).rejects.toMatchObject(refused);
    await expect(uploads.receive(upload("u", digest, hello))).rejects.toMatchObject(refused);
    expect(await namespacesOf(directory)).toEqual([]);
  });

  test("is not asked about one that has begun, by whichever server", async () => {
    const { stores, directory } = await someStores();
    const other = (await someStores({ directory })).stores;
    const held = other.of("a", mayNot).blobs;
    await blobsOf(stores, "a").put(digest, hello);

    // Also through the store that was opened before the project began.
    expect(await held.get(digest)).toEqual(hello);
    await held.put(digestOf(Buffer.from("x")), Buffer.from("x"));
    await stores.of("a", mayNot).uploads.receive(upload("u", digest, hello));
  });
});

describe("a project that is removed", () => {
  const soon = () => new Date(Date.now() + 60_000);

  test("stays while it has blobs, goes with those that nobody asked for, and may begin anew", async () => {
    const { stores, directory } = await someStores({ mostNamespaces: 1 });
    const namespace = namespaceOf("a");
    await blobsOf(stores, "a").put(digest, hello);

    const size = { blobs: 1, bytes: hello.byteLength };
    expect(await stores.remove(namespace, undefined)).toEqual(size);
    expect(await stores.remove(namespace, new Date(0))).toEqual(size);
    expect(await blobsOf(stores, "a").get(digest)).toEqual(hello);
    expect(await stores.remove(namespace, soon())).toEqual({ blobs: 0, bytes: 0 });

    expect(await namespacesOf(directory)).toEqual([]);
    expect(await stores.has("a")).toBe(false);
    await blobsOf(stores, "b").put(digest, hello);
    expect(await blobsOf(stores, "b").get(digest)).toEqual(hello);
  });

  test("takes blobs again at another server that had opened it", async () => {
    const { stores, directory } = await someStores();
    const other = (await someStores({ directory })).stores;
    const more = Buffer.from("more");
    for (const each of [stores, other]) await blobsOf(each, "a").put(digest, hello);

    await stores.remove(namespaceOf("a"), soon());
    await blobsOf(other, "a").put(digestOf(more), more);

    expect(await stores.usage(namespaceOf("a"))).toEqual({ blobs: 1, bytes: 4 });
    expect(await stores.remove(namespaceOf("a"), soon())).toEqual({ blobs: 0, bytes: 0 });
  });

  test("keeps a blob that arrives meanwhile", async () => {
    const { stores, directory } = await someStores();
    await stores.of("a", anyMayBegin).uploads.receive(upload("u", digest, hello));
    await stores.remove(namespaceOf("a"), soon());

    const arriving = Array.from({ length: 20 }, (_, n) => Buffer.from(`blob ${n}`));
    await Promise.all([
      ...arriving.map((bytes) => blobsOf(stores, "a").put(digestOf(bytes), bytes)),
      ...arriving.map(() => stores.remove(namespaceOf("a"), undefined)),
    ]);

    const later = blobsOf((await someStores({ directory })).stores, "a");
    expect(await later.findMissing(arriving.map((bytes) => digestOf(bytes)))).toEqual([]);
  });
});

test("uploads and streams end in their own project, and leave nothing beside it", async () => {
  const { stores, directory } = await someStores();
  const { unnamed, uploads, blobs } = stores.of("a", anyMayBegin);
  const taken = await unnamed.take(inPieces(Buffer.from("taken")));
  await uploads.receive(upload("a/uploads/1", digest, hello));

  expect(await blobs.get(taken)).toEqual(Buffer.from("taken"));
  expect(await unnamed.withHash(digest.hash)).toEqual(digest);
  expect(await blobsOf(stores, defaultProject).findMissing([taken, digest])).toHaveLength(2);
  expect(await readdir(join(directory, "temp"))).toEqual([]);
  expect(await readdir(join(directory, "uploads"))).toEqual([]);
});

test("an upload that was broken off in one project goes on there, and is given up with all others", async () => {
  const { stores } = await someStores();
  const { uploads, blobs } = stores.of("a", anyMayBegin);
  async function* broken() {
    yield hello.subarray(0, 5);
    throw new Error("the line broke");
  }
  const name = "a/uploads/1/blobs/x";
  await uploads
    .receive({ ...upload(name, digest, hello), chunks: broken() })
    .catch(() => undefined);
  const offset = await uploads.committed(name);
  await uploads.receive({
    ...upload(name, digest, hello),
    offset,
    chunks: inPieces(hello.subarray(offset)),
  });

  expect(offset).toBe(5);
  expect(await blobs.get(digest)).toEqual(hello);
});

test("two servers that begin one project at once share it", async () => {
  const { stores, directory } = await someStores();
  const other = (await someStores({ directory })).stores;
  const all = Array.from({ length: 40 }, (_, i) => Buffer.from(`blob ${i}`));

  await Promise.all(
    all.map((bytes, i) => blobsOf(i % 2 === 0 ? stores : other, "a").put(digestOf(bytes), bytes)),
  );

  for (const server of [stores, other]) {
    expect(await blobsOf(server, "a").findMissing(all.map((bytes) => digestOf(bytes)))).toEqual([]);
  }
  expect(await namespacesOf(directory)).toHaveLength(1);
});

test("there is room for so many projects; the refusal says so, and the others go on", async () => {
  const { stores, directory } = await someStores({ mostNamespaces: 3 });
  const projects = ["a", "b", "c", "d", "e"];

  const ends = await Promise.allSettled(
    projects.map((project) => blobsOf(stores, project).put(digest, hello)),
  );

  const refused = ends.flatMap((end) => (end.status === "rejected" ? [end.reason as Fault] : []));
  expect(refused.map(({ code }) => code)).toEqual(["resource_exhausted", "resource_exhausted"]);
  expect(refused[0]?.message).toMatch(/3 projects.*GRANGE_MOST_PROJECTS/);
  expect(await namespacesOf(directory)).toHaveLength(3);
  expect(await blobsOf(stores, defaultProject).findMissing([digest])).toEqual([digest]);
  await blobsOf(stores, defaultProject).put(digest, hello);
  expect(await blobsOf(stores, "a").findMissing([digest])).toEqual([]);
});

test("what a server that is killed was writing goes when the next one starts", async () => {
  const { directory, stores } = await someStores();
  await blobsOf(stores, "a").put(digest, hello);
  const { temp } = diskLayout(directory);
  await writeFile(
    join(temp, `999999999~x~${encodeURIComponent((await import("node:os")).hostname())}`),
    "half",
  );

  await someStores({ directory });

  expect(await readdir(temp)).toEqual([]);
  const { path } = diskLayout(join(directory, namespaceOf("a")));
  expect(await readFile(path(digest))).toEqual(hello);
});
