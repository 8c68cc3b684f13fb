import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { BlobStore } from "#cas/blob-store.ts";
import { buildDirectoryTree, uploadDirectories } from "#cas/build-directory-tree.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { LayerCache } from "./input-root/layer-cache.ts";
import { LocalStore } from "./local-store.ts";
import { trimStore } from "./trim-store.ts";

const bytes = Buffer.from("hello");
const digest = digestOf(bytes);
let directory: string;
let farm: BlobStore;
let local: LocalStore;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "grange-store-"));
  farm = memoryBlobStore();
  await farm.put(digest, bytes);
  local = await LocalStore.open(directory);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test("stores a blob read-only, once plain and once executable", async () => {
  const files = [true, false].map((executable) => ({ digest, executable }));

  await local.fetch(files, farm);

  expect(files.map((file) => statSync(local.path(file)).mode & 0o777)).toEqual([0o755, 0o644]);
});

test("creates a file from the one with the other mode, even if the farm has lost its bytes", async () => {
  await local.fetch([{ digest, executable: true }], farm);

  await local.fetch([{ digest, executable: false }], memoryBlobStore());

  expect(statSync(local.path({ digest, executable: false })).mode & 0o777).toBe(0o644);
});

test("rejects bytes that do not match the digest", async () => {
  const lying: BlobStore = { ...farm, get: async () => Buffer.from("hullo") };

  await expect(local.fetch([{ digest, executable: false }], lying)).rejects.toMatchObject({
    code: "data_loss",
  });
  expect(existsSync(local.path({ digest, executable: false }))).toBe(false);
});

test("fetches a file again that a crash truncated", async () => {
  writeFileSync(local.path({ digest, executable: false }), "he");

  await local.fetch([{ digest, executable: false }], farm);

  expect(statSync(local.path({ digest, executable: false })).size).toBe(5);
});

test("fetches a file once for many simultaneous requests", async () => {
  let asked = 0;
  const counting: BlobStore = { ...farm, get: (wanted) => (asked++, farm.get(wanted)) };

  await Promise.all(
    Array.from({ length: 9 }, () => local.fetch([{ digest, executable: false }], counting)),
  );

  expect(asked).toBe(1);
});

test("fetches a complete file again if it has no seal, because its writer was killed", async () => {
  const file = { digest, executable: true };
  writeFileSync(local.path(file), "hullo");

  await local.fetch([file], farm);

  expect(readFileSync(local.path(file), "utf8")).toBe("hello");
  expect(statSync(local.path(file)).mode & 0o777).toBe(0o755);
  expect(readdirSync(local.tempDirectory)).toEqual([]);
});

test("fetches many small files in one call, and gets all of them", async () => {
  const many = await someFiles(1_200);
  let turn = 0;
  const turns = new Map<number, number>();
  const inTurns: BlobStore = {
    ...farm,
    async get(wanted) {
      // As `batched` does: requests within one turn of the event loop become one call.
      if (!turns.has(turn)) setImmediate(() => turn++);
      turns.set(turn, (turns.get(turn) ?? 0) + 1);
      return farm.get(wanted);
    },
  };

  await local.fetch(many, inTurns);

  expect(turns.size).toBeLessThanOrEqual(3);
  expect(many.filter(({ digest }) => !local.holds(digest))).toEqual([]);
});

test("two workers of a machine that fetch the same files at once both succeed", async () => {
  const many = await someFiles(700);
  const other = await LocalStore.open(directory);

  await Promise.all([local.fetch(many, farm), other.fetch(many, farm)]);

  for (const store of [local, other]) {
    expect(many.filter(({ digest }) => !store.holds(digest))).toEqual([]);
  }
  expect(readdirSync(local.tempDirectory)).toEqual([]);
});

test("a wrong file does not affect other files of the same call", async () => {
  const many = await someFiles(50);
  const [wrong, gone] = many.map((file) => digestKey(file.digest));
  const lying: BlobStore = {
    ...farm,
    get: async (wanted) => {
      if (digestKey(wanted) === gone) return undefined;
      return digestKey(wanted) === wrong ? Buffer.from("other") : farm.get(wanted);
    },
  };

  await expect(local.fetch(many, lying)).rejects.toMatchObject({ code: "data_loss" });

  const absent = many.filter(({ digest }) => !local.holds(digest));
  expect(absent.map((file) => digestKey(file.digest))).toEqual([wrong, gone]);
});

test("repeats a call that failed because the farm was briefly unreachable", async () => {
  const many = await someFiles(50);
  let calls = 0;
  const away: BlobStore = {
    ...farm,
    get: async (wanted) => {
      if (++calls <= 50) throw new Fault("unavailable", "starting again");
      return farm.get(wanted);
    },
  };

  await local.fetch(many, away);

  expect(calls).toBe(100);
});

test("lists everything that the farm does not have", async () => {
  const gone = ["a", "b"].map((text) => ({
    digest: digestOf(Buffer.from(text)),
    executable: false,
  }));

  await expect(local.fetch(gone, farm)).rejects.toMatchObject({
    digests: gone.map((file) => file.digest),
  });
});

test("trims unused blobs and layers, and keeps a layer in use", async () => {
  const layers = await LayerCache.open(directory, local);
  const tree = (path: string) =>
    buildDirectoryTree([{ kind: "file", path, digest, executable: false }]);
  const roots = await Promise.all(
    ["used", "idle"].map((path) => uploadDirectories(farm, tree(path))),
  );
  const [used, idle] = await Promise.all(roots.map((root) => layers.use(root, farm)));
  idle?.release();
  const inOneHour = new Date(Date.now() + 3_600_000);

  await trimStore(directory, local, layers, 1, inOneHour);

  expect(existsSync(used?.trees[0] ?? "")).toBe(true);
  expect(existsSync(idle?.trees[0] ?? "")).toBe(false);
  expect(existsSync(local.path({ digest, executable: false }))).toBe(true);

  used?.release();
  await trimStore(directory, local, layers, 1, inOneHour);

  expect(existsSync(local.path({ digest, executable: false }))).toBe(false);
});

function someFiles(count: number): Promise<{ digest: Digest; executable: boolean }[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const content = Buffer.from(`file ${n}`);
      await farm.put(digestOf(content), content);
      return { digest: digestOf(content), executable: n % 2 === 0 };
    }),
  );
}
