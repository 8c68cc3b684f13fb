import { randomUUID } from "node:crypto";
import { mkdtemp, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { lookUpActionResult, recordActionResult } from "#actions/action-cache.ts";
import { outputTrees } from "#actions/output-trees.ts";
import { projectTrees } from "#actions/project-trees.ts";
import { resultWith, storedResult } from "#actions/result.fixture.ts";
import { blobsOfResult } from "#actions/result-blobs.ts";
import { unsealed } from "#actions/result-seals.ts";
import { replaceEntries } from "#caches/cache-entry.store.ts";
import { buildDirectoryTree, uploadDirectories } from "#cas/build-directory-tree.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { openDiskBlobStore } from "#cas/disk/disk-blob-store.ts";
import { diskLayout } from "#cas/disk/disk-layout.ts";
import { openNamespacedEviction } from "#cas/disk/namespaced-eviction.ts";
import { cachingExistence } from "#cas/existence-caching-blob-store.ts";
import { namespaceOf, ownNamespace } from "#cas/namespaces/namespace.ts";
import { projectBlobsIn } from "#cas/namespaces/project-blobs.fixture.ts";
import { anyMayBegin } from "#cas/namespaces/project-blobs.ts";
import { systemClock } from "#core/clock.ts";
import { defaultProject } from "#core/default-project.ts";
import { type Digest, digestFrom, digestKey } from "#core/digest.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import { sql } from "#db/sql.ts";
import {
  ActionSchema,
  CommandSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { type EvictionServices, evict } from "./evict.ts";
import { type Claim, noClaims } from "./farm-claims.ts";

const root = await mkdtemp(join(tmpdir(), "grange-retention-"));
afterAll(() => rm(root, { recursive: true }));
const db = await freshDb();
afterAll(() => db.close());

const hourMs = 60 * 60_000;
const never = new AbortController().signal;
const ago = (hours: number) => new Date(Date.now() - hours * hourMs);

async function aStore(pinned: EvictionServices["pinned"] = noClaims) {
  const directory = await mkdtemp(join(root, "store-"));
  const disk = await openDiskBlobStore(directory);
  // As in a server: a blob that was seen a minute ago is not looked up again.
  const blobs = cachingExistence(disk, systemClock, { ttlMs: 60_000, limit: 100_000 });
  const trees = outputTrees(blobs);
  const services: EvictionServices = {
    db,
    blobsOf: () => blobs,
    treesOf: () => trees,
    stored: await openNamespacedEviction(directory),
    pinned,
  };
  const age = async (digest: Digest, hours: number) =>
    utimes(disk.path(digest), ago(hours), new Date("2000-01-01T00:00:00Z"));
  const put = async (bytes: Uint8Array, hours: number) => {
    const digest = digestOf(bytes);
    await disk.put(digest, bytes);
    await age(digest, hours);
    return digest;
  };
  const isHere = async (digest: Digest) =>
    (await services.stored.look(ownNamespace, digest)) !== undefined;
  return { directory, disk, blobs, trees, services, put, age, isHere };
}

const text = (seed: string, length = 1_000) => Buffer.from(seed.padEnd(length, "."));

async function record(digests: readonly Digest[], hours: number, project = defaultProject) {
  const actionDigest = digestOf(Buffer.from(randomUUID()));
  const key = { project, domain: protectedDomain, actionDigest };
  const result = resultWith({
    outputFiles: digests.map((digest, i) => ({ path: `f${i}`, digest: toDigestMessage(digest) })),
  });
  await recordActionResult(db, { ...key, result, executionId: randomUUID(), attempt: 1 });
  await db.run(sql`
    update action_result set created_at = ${ago(hours)}, last_used_at = ${ago(hours)}
    where action_digest = ${digestKey(actionDigest)}
  `);
  return key;
}

async function isRecorded({ actionDigest }: { readonly actionDigest: Digest }): Promise<boolean> {
  const rows = await db.many(
    z.object({ n: z.number() }),
    sql`select count(*) as n from action_result where action_digest = ${digestKey(actionDigest)}`,
  );
  return rows[0]?.n === 1;
}

test("a store within its limit is counted, and left alone", async () => {
  const { services, put, isHere } = await aStore();
  const old = await put(text("old"), 900);

  const round = await evict(services, 1_000, new Date(), never);

  expect(round).toMatchObject({ blobs: 2, bytes: 1_000, removedBlobs: 0, overBytes: 0 });
  expect(await isHere(old)).toBe(true);
  expect(await evict(services, undefined, new Date(), never)).toMatchObject({ bytes: 1_000 });
});

test("what is unused longest goes, with what names it, and nothing else", async () => {
  const { services, put, isHere, trees } = await aStore();
  const [old, newer] = [await put(text("o"), 90), await put(text("n"), 9)];
  const alsoNewer = await put(text("m"), 9);
  const [ofOld, ofBoth, ofNewer] = [
    await record([old], 90),
    await record([old, newer], 90),
    await record([newer, alsoNewer], 200),
  ];
  const entry = {
    project: defaultProject,
    tool: "nx",
    domain: protectedDomain,
    attributes: {},
    principal: "x",
  } as const;
  await replaceEntries(db, [
    { ...entry, key: "1", digest: old },
    { ...entry, key: "2", digest: newer },
  ]);
  await db.run(sql`update cache_entry set created_at = ${ago(99)}, last_used_at = ${ago(99)}`);

  const round = await evict(services, 2_900, new Date(), never);

  expect(round).toMatchObject({
    removedBlobs: 1,
    removedBytes: 1_000,
    forgottenNames: 3,
    bytes: 2_000,
    // What is left, and not what was removed.
    counts: { projects: [{ directory: "", bytes: 2_000 }] },
  });
  expect(round.counts.next.map(({ digest }) => digest).toSorted()).toEqual(
    [newer, alsoNewer].map(digestKey).toSorted(),
  );
  expect(await Promise.all([old, newer, alsoNewer].map(isHere))).toEqual([false, true, true]);
  expect(await Promise.all([ofOld, ofBoth, ofNewer].map(isRecorded))).toEqual([false, false, true]);
  expect(await lookUpActionResult(db, trees, ofNewer)).toBeDefined();
  const left = await db.many(z.object({ key: z.string() }), sql`select key from cache_entry`);
  expect(left).toEqual([{ key: "2" }]);
});

test("a result with a directory goes with a file of that directory", async () => {
  const { services, disk, trees, age, isHere } = await aStore();
  const { result, blobs } = await storedResult(disk);
  const key = { ...(await record([], 80)), result, executionId: randomUUID(), attempt: 1 };
  await recordActionResult(db, key);
  for (const digest of await blobsOfResult(trees, result, "sha256")) await age(digest, 8);
  await age(blobs.deep, 80);

  const all = (await evict(services, undefined, new Date(), never)).bytes;
  await db.run(sql`update action_result set created_at = ${ago(70)}, last_used_at = ${ago(70)}`);
  await evict(services, all - 1, new Date(), never);

  expect(await isHere(blobs.deep)).toBe(false);
  expect(await isRecorded(key)).toBe(false);
});

test("what waits for a worker, and what an index pins, stays; the latter until all else is gone", async () => {
  let pinned: Digest[] = [];
  const { services, disk, put, age, isHere } = await aStore(async function* () {
    for (const digest of pinned) yield { project: defaultProject, digest };
  });
  const file = await put(text("an input"), 500);
  const directories = buildDirectoryTree([
    { kind: "file", path: "src/a", digest: file, executable: false },
  ]);
  const inputRootDigest = toDigestMessage(await uploadDirectories(disk, directories));
  const command = await put(toBinary(CommandSchema, create(CommandSchema, {})), 500);
  const commandDigest = toDigestMessage(command);
  const action = await put(
    toBinary(ActionSchema, create(ActionSchema, { commandDigest, inputRootDigest })),
    500,
  );
  await db.run(sql`
    insert into execution (id, project, domain, action_digest, requirements, size_class, invocation, lane, place,
      priority, timeout_ms, do_not_cache, queued_at)
    values (${randomUUID()}, ${defaultProject}, 'protected', ${digestKey(action)}, '{}', 1, 'i', 1, 1, 0, 1000, false, now())
  `);
  const indexed = await put(text("indexed"), 500);
  pinned = [indexed];
  const other = await put(text("other"), 5);
  for await (const { digest } of services.stored.list()) {
    if (![other, indexed].includes(digest) && digest.sizeBytes > 0) await age(digest, 400);
  }
  const held = [file, action, command];

  await evict(services, 2_900, new Date(), never);
  expect(await Promise.all([...held, indexed, other].map(isHere))).toEqual([
    true,
    true,
    true,
    true,
    false,
  ]);

  const round = await evict(services, 500, new Date(), never);
  expect(await Promise.all([...held, indexed].map(isHere))).toEqual([true, true, true, false]);
  expect(round.overBytes).toBeGreaterThan(0);
  expect(round.heldBytes).toBeGreaterThanOrEqual(1_000);
  await db.run(sql`delete from execution`);
});

test("when the disk fills up, young blobs that nothing names go, the least recently used first, and no others", async () => {
  const { services, put, isHere } = await aStore();
  const idle = await put(text("uploaded 2 h ago"), 2);
  const lessIdle = await put(text("uploaded 1 h ago"), 1);
  const named = await put(text("named by a result"), 2);
  const cached = await put(text("named by an entry"), 2);
  const fresh = await put(text("uploaded 5 min ago"), 5 / 60);
  const result = await record([named], 2);
  const entry = {
    project: defaultProject,
    tool: "nx",
    domain: protectedDomain,
    attributes: {},
    principal: "x",
  } as const;
  await replaceEntries(db, [{ ...entry, key: "young", digest: cached }]);
  const all = [idle, lessIdle, named, cached, fresh];

  const first = await evict(services, undefined, new Date(), never, 900);
  expect(await Promise.all(all.map(isHere))).toEqual([false, true, true, true, true]);
  expect(first).toMatchObject({ removedBlobs: 1, removedBytes: 1_000, overBytes: 0 });

  const second = await evict(services, undefined, new Date(), never, 3_000);
  expect(await Promise.all(all.map(isHere))).toEqual([false, false, true, true, true]);
  expect(second).toMatchObject({ removedBlobs: 1, overBytes: 2_000 });
  expect(await isRecorded(result)).toBe(true);
});

test("a store that is far above its limit loses young blobs down to twice the limit", async () => {
  const { disk, services, put } = await aStore();
  const now = new Date();
  for (let n = 0; n < 10; n++) {
    const digest = await put(text(`young ${n}`), 1);
    // Exact to the millisecond: the boundary of what may be removed.
    await utimes(disk.path(digest), new Date(now.getTime() - hourMs), new Date("2000-01-01"));
  }

  const round = await evict(services, 2_000, now, never);

  expect(round).toMatchObject({ removedBlobs: 6, bytes: 4_000, overBytes: 2_000 });
});

test("projects share one limit; each loses its own, and no name goes for what another project lost", async () => {
  const directory = await mkdtemp(join(root, "store-"));
  const stores = await projectBlobsIn(directory);
  const blobsOf = (project: string) => stores.of(project, anyMayBegin).blobs;
  const put = async (project: string, bytes: Uint8Array, hours: number) => {
    const digest = digestOf(bytes);
    await blobsOf(project).put(digest, bytes);
    const { path } = diskLayout(join(directory, namespaceOf(project)));
    await utimes(path(digest), ago(hours), new Date("2000-01-01T00:00:00Z"));
    return digest;
  };
  let pinned: Claim[] = [];
  const stored = await openNamespacedEviction(directory);
  const services: EvictionServices = {
    db,
    blobsOf,
    treesOf: projectTrees(blobsOf, unsealed),
    stored,
    pinned: async function* () {
      yield* pinned;
    },
  };
  // The same bytes: unused for long in one project, used lately in the second, held in the third.
  const same = await put("a", text("same"), 500);
  await put("b", text("same"), 5);
  await put("c", text("same"), 500);
  pinned = [{ project: "c", digest: same }];
  const ofDefault = await put(defaultProject, text("default's"), 400);
  const [inA, inB] = [await record([same], 500, "a"), await record([same], 500, "b")];
  const neverThere = await record([same], 500, "without-a-namespace");

  const round = await evict(services, 2_900, new Date(), never);

  const isHere = async (project: string, digest: Digest) =>
    (await stored.look(namespaceOf(project), digest)) !== undefined;
  expect(round).toMatchObject({ removedBlobs: 2, bytes: 2_000 });
  expect(await Promise.all(["a", "b", "c"].map((each) => isHere(each, same)))).toEqual([
    false,
    true,
    true,
  ]);
  expect(await isHere(defaultProject, ofDefault)).toBe(false);
  expect(await Promise.all([inA, inB, neverThere].map(isRecorded))).toEqual([false, true, false]);
});

test("under load, no incomplete result is served, and what was named can be read", async () => {
  const { services, directory, trees, disk, put, isHere } = await aStore();
  const shared = await Promise.all(
    Array.from({ length: 60 }, (_, i) => put(text(`shared ${i}`), 200)),
  );
  const keys: Awaited<ReturnType<typeof record>>[] = [];
  for (let i = 0; i < 600; i++) {
    const hours = 4 + (i % 97);
    const own = await Promise.all([0, 1, 2].map((n) => put(text(`own ${i} ${n}`), hours)));
    keys.push(await record([...own, shared[i % 60] as Digest], hours));
  }
  // Another server, with its own cache of existing blobs.
  const otherBlobs = cachingExistence(await openDiskBlobStore(directory), systemClock, {
    ttlMs: 60_000,
    limit: 100_000,
  });
  const servers = [trees, outputTrees(otherBlobs)];
  const ending = new AbortController();
  const promised = new Map<string, Digest>();
  const unreadable: string[] = [];
  let served = 0;
  let missed = 0;

  const hammer = async (seed: number) => {
    for (let n = seed; !ending.signal.aborted; n = (n * 1_103_515_245 + 12_345) % 2 ** 31) {
      // Some are requested all the time, others never.
      const key = keys[n % 240] as (typeof keys)[number];
      const server = servers[n % 2] as (typeof servers)[number];
      const hit = await lookUpActionResult(db, server, key);
      if (hit === undefined) {
        missed++;
        continue;
      }
      served++;
      for (const digest of await blobsOfResult(server, hit.result, "sha256")) {
        promised.set(digestKey(digest), digest);
        if ((await server.store.get(digest)) === undefined) unreadable.push(digestKey(digest));
      }
    }
  };
  const hammers = [1, 2, 3, 4].map(hammer);

  let removed = 0;
  const began = (await evict(services, undefined, new Date(), never)).bytes;
  for (let share = 0.95; share > 0.2; share -= 0.15) {
    removed += (await evict(services, began * share, new Date(), never)).removedBlobs;
  }
  ending.abort();
  await Promise.all(hammers);

  expect(unreadable).toEqual([]);
  expect(served).toBeGreaterThan(100);
  expect(removed).toBeGreaterThan(1_000);
  // Every answer of any server within the last 3 hours must still be true on the disk.
  const kept = await Promise.all([...promised.values()].map(isHere));
  expect(kept.every(Boolean)).toBe(true);
  // Every recorded result still has its blobs, except results that were looked up while their blobs were removed, which
  // is no hit either.
  for (const key of keys) {
    const hit = await lookUpActionResult(db, outputTrees(disk), key);
    if (hit === undefined) continue;
    const blobs = await blobsOfResult(trees, hit.result, "sha256");
    expect(await disk.findMissing(blobs)).toEqual([]);
  }
  expect(missed).toBeGreaterThanOrEqual(0);
});

test("two servers that evict at once do no more harm than one", async () => {
  const { services, directory, put } = await aStore();
  for (let i = 0; i < 300; i++) await put(text(`blob ${i}`), 4 + i);
  const other = { ...services, stored: await openNamespacedEviction(directory) };

  const [one, two] = await Promise.all([
    evict(services, 150_000, new Date(), never),
    evict(other, 150_000, new Date(), never),
  ]);

  const { bytes } = await evict(services, undefined, new Date(), never);
  expect(bytes).toBeLessThanOrEqual(150_000);
  expect(bytes).toBeGreaterThan(120_000);
  expect(one.removedBlobs + two.removedBlobs).toBe(300 - bytes / 1_000);
});

test("a million blobs take no more memory than a few", async () => {
  const many = 1_000_000;
  let removed = 0;
  const hash = Buffer.alloc(32);
  const digestAt = (i: number) => {
    hash.writeUInt32BE(i, 28);
    hash.writeUInt32BE((i * 2_654_435_761) >>> 0, 0);
    return digestFrom("sha256", hash.toString("hex"), 1_000);
  };
  const stored: EvictionServices["stored"] = {
    async *list() {
      for (let i = 0; i < many; i++)
        yield { namespace: ownNamespace, digest: digestAt(i), lastUsedAt: ago(4 + i / 1_000) };
    },
    look: async () => undefined,
    removeUnused: async () => {
      removed++;
      return true;
    },
    putBack: async () => {},
  };
  const { services } = await aStore();
  const before = process.memoryUsage().heapUsed;
  let most = 0;
  const watching = setInterval(() => {
    most = Math.max(most, process.memoryUsage().heapUsed);
  }, 20);

  await evict({ ...services, stored }, 900_000_000, new Date(), never);
  clearInterval(watching);

  expect(removed).toBeGreaterThan(150_000);
  expect(removed).toBeLessThan(220_000);
  // The garbage collector runs late: garbage is some tens of MiB, a million names were 200.
  expect(most - before).toBeLessThan(120 * 1024 ** 2);
});
