import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import type { TreeEntry } from "#cas/tree-entry.ts";
import { writeTree } from "./write-tree.ts";

const dir = await mkdtemp(join(tmpdir(), "grange-write-tree-"));
afterAll(() => rm(dir, { recursive: true }));
const store = memoryBlobStore();
const bytes = Buffer.from("text");
const digest = digestOf(bytes);
await store.put(digest, bytes);

const file = (path: string, executable = false): TreeEntry => ({
  kind: "file",
  path,
  digest,
  executable,
});
const link = (path: string, target: string): TreeEntry => ({ kind: "symlink", path, target });

test("files, links and empty directories are written", async () => {
  const root = join(dir, "good");

  await writeTree(
    store,
    [file("a/run", true), link("a/b/c", "../run"), { kind: "directory", path: "e" }],
    root,
  );

  expect(await readFile(join(root, "a/b/c"), "utf8")).toBe("text");
  expect((await stat(join(root, "a/run"))).mode & 0o111).not.toBe(0);
  expect((await stat(join(root, "e"))).isDirectory()).toBe(true);
});

test.each([
  { entries: [file("../out")] },
  { entries: [file("/etc/grange")] },
  { entries: [file("a/../../out")] },
  { entries: [link("up", "..")] },
  { entries: [link("etc", "/etc")] },
  { entries: [link("a", "b/../../..")] },
])(
  "a tree that leaves the directory is refused before anything is written: $entries.0.path",
  async ({ entries }) => {
    const root = join(dir, "bad");

    await expect(writeTree(store, [file("first"), ...entries], root)).rejects.toMatchObject({
      code: "invalid_argument",
    });

    expect(await readdir(dir)).not.toContain("bad");
  },
);

test("no file is written through a link of the same tree", async () => {
  const root = join(dir, "through");

  await expect(
    writeTree(store, [link("a", "b"), file("a/x"), file("b/y")], root),
  ).rejects.toMatchObject({ code: "EEXIST" });
});

test("a blob that the farm no longer has is named", async () => {
  const gone = {
    kind: "file",
    path: "src/gone.c",
    digest: digestOf(Buffer.from("gone")),
    executable: false,
  } as const;

  await expect(writeTree(store, [gone], join(dir, "gone"))).rejects.toThrow(
    /no longer has src\/gone\.c/,
  );
});
