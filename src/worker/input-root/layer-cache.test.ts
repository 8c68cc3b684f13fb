import { mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { buildDirectoryTree, uploadDirectories } from "#cas/build-directory-tree.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import type { TreeEntry } from "#cas/tree-entry.ts";
import { countingFetches } from "../counting-fetches.ts";
import { LocalStore } from "../local-store.ts";
import { LayerCache } from "./layer-cache.ts";

test("a layer that could not be marked as used is marked by its next use", async () => {
  const directory = mkdtempSync(join(tmpdir(), "grange-layers-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const store = memoryBlobStore();
  const bytes = Buffer.from("content");
  await store.put(digestOf(bytes), bytes);
  const file: TreeEntry = {
    kind: "file",
    path: "a",
    digest: digestOf(bytes),
    executable: false,
  };
  const root = await uploadDirectories(store, buildDirectoryTree([file]));
  const layers = await LayerCache.open(directory, await LocalStore.open(directory));
  const marks = join(directory, "in-use");
  renameSync(marks, `${marks}-away`);
  await expect(layers.use(root, store)).rejects.toThrow("ENOENT");

  renameSync(`${marks}-away`, marks);
  const used = await layers.use(root, store);

  expect(used.trees).toHaveLength(1);
  used.release();
});

test("for a tree that differs in one file, only new parts are fetched and built", async () => {
  const directory = mkdtempSync(join(tmpdir(), "grange-layers-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const store = memoryBlobStore();
  const file = async (path: string, text = path): Promise<TreeEntry> => {
    const bytes = Buffer.from(text);
    await store.put(digestOf(bytes), bytes);
    return { kind: "file", path, digest: digestOf(bytes), executable: false };
  };
  const names = Array.from({ length: 300 }, (_, n) => `external/include/d${n % 10}/h${n}`);
  const shared = await Promise.all(names.map((path) => file(path)));
  const rootOf = async (text: string) =>
    uploadDirectories(store, buildDirectoryTree([...shared, await file("src/a.c", text)]));
  const layers = await LayerCache.open(directory, await LocalStore.open(directory));
  for (const text of ["first", "second"]) (await layers.use(await rootOf(text), store)).release();

  const { farm, fetched } = countingFetches(store);
  const third = await layers.use(await rootOf("third"), farm);

  expect(third.kept).toBe(third.trees.length - 1);
  // The root, `src`, and the only file.
  expect(fetched.blobs).toBe(3);
  const [rest = ""] = third.trees;
  expect(readFileSync(join(rest, "src/a.c"), "utf8")).toBe("third");
  third.release();
});
