import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { BlobStore } from "#cas/blob-store.ts";
import { buildDirectoryTree, uploadDirectories } from "#cas/build-directory-tree.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
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

test("keeps a blob read-only, once plain and once executable", async () => {
  const files = [true, false].map((executable) => ({ digest, executable }));

  await local.fetch(files, farm);

  expect(files.map((file) => statSync(local.path(file)).mode & 0o777)).toEqual([0o755, 0o644]);
});

test("takes no bytes that are not those of the digest", async () => {
  const lying: BlobStore = { ...farm, get: async () => Buffer.from("hullo") };

  await expect(local.fetch([{ digest, executable: false }], lying)).rejects.toMatchObject({
    code: "data_loss",
  });
  expect(existsSync(local.path({ digest, executable: false }))).toBe(false);
});

test("fetches a file again that a crash cut off", async () => {
  writeFileSync(local.path({ digest, executable: false }), "he");

  await local.fetch([{ digest, executable: false }], farm);

  expect(statSync(local.path({ digest, executable: false })).size).toBe(5);
});

test("asks the farm once for what many want at the same time", async () => {
  let asked = 0;
  const counting: BlobStore = { ...farm, get: (wanted) => (asked++, farm.get(wanted)) };

  await Promise.all(
    Array.from({ length: 9 }, () => local.fetch([{ digest, executable: false }], counting)),
  );

  expect(asked).toBe(1);
});

test("names everything that the farm does not have", async () => {
  const gone = ["a", "b"].map((text) => ({
    digest: digestOf(Buffer.from(text)),
    executable: false,
  }));

  await expect(local.fetch(gone, farm)).rejects.toMatchObject({
    digests: gone.map((file) => file.digest),
  });
});

test("trims blobs and layers that nobody uses, and keeps a layer in use", async () => {
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
