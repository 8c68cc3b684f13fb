import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { BlobStore } from "#cas/blob-store.ts";
import { counting, noTraffic } from "#cas/counting-blob-store.ts";
import { openDiskBlobStore } from "#cas/disk/disk-blob-store.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { CommitSha } from "#core/commit-sha.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { listCommitTree, parseCommitTree } from "./commit-tree.ts";
import { importTree } from "./import-tree.ts";
import { readFilesBelow } from "./read-file.ts";
import { testRepository } from "./repository.fixture.ts";
import { openGit } from "./run-git.ts";

const root = mkdtempSync(join(tmpdir(), "grange-import-"));
const git = await openGit(join(root, "git"));
const db = await freshDb();
afterAll(async () => {
  await db.close();
  await git.stop();
  await rm(root, { recursive: true });
});

const sha256 = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** Creates a commit with these files; returns it with a function that imports it. */
function commitOf(files: Readonly<Record<string, string | Uint8Array>>) {
  const repository = testRepository(root);
  repository.write(files);
  const sha = CommitSha.parse(repository.commit("x"));
  const importInto = async (store: BlobStore) => {
    const tree = await listCommitTree(git, repository.path, sha);
    return importTree({ git, db, store }, repository.path, tree.entries);
  };
  return { repository, sha, importInto };
}

describe("importing a commit", () => {
  test("gives files, their modes and symlinks, all in the store", async () => {
    const { repository } = commitOf({
      "README.md": "# hello",
      "bin/run": "#!/bin/sh",
      "src/ü 文.ts": "x",
      "src/empty": "",
      latest: "->src/empty",
      "src/up": "->../README.md",
      "big.bin": Buffer.alloc(3_000_000, 7),
      lfs: "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
    });
    repository.git("update-index", "--chmod=+x", "bin/run");
    repository.git("commit", "--quiet", "--message=with mode");
    const sha = CommitSha.parse(repository.git("rev-parse", "HEAD"));
    const store = memoryBlobStore();

    const { entries, skipped } = await importTree(
      { git, db, store },
      repository.path,
      (await listCommitTree(git, repository.path, sha)).entries,
    );

    expect(skipped).toEqual([]);
    const byPath = new Map(entries.map((entry) => [entry.path, entry]));
    expect(byPath.size).toBe(8);
    expect(byPath.get("latest")).toEqual({ kind: "symlink", path: "latest", target: "src/empty" });
    expect(byPath.get("src/up")).toMatchObject({ target: "../README.md" });
    expect(byPath.get("bin/run")).toMatchObject({ executable: true });
    expect(byPath.get("src/ü 文.ts")).toMatchObject({
      executable: false,
      digest: { hash: sha256("x"), sizeBytes: 1 },
    });
    expect(byPath.get("big.bin")).toMatchObject({
      digest: { hash: sha256(Buffer.alloc(3_000_000, 7)), sizeBytes: 3_000_000 },
    });
    const digests = entries.flatMap((entry) => (entry.kind === "file" ? [entry.digest] : []));
    expect(await store.findMissing(digests)).toEqual([]);
  });

  test("reads each object once, even if several commits contain it", async () => {
    const files = { a: "one thing", b: "one thing", c: String(randomBytes(8).toString("hex")) };
    const { repository, importInto } = commitOf(files);
    const traffic = noTraffic();
    const store = counting(memoryBlobStore(), traffic);
    await importInto(store);
    expect(traffic.writes).toBe(2);

    await importInto(store);
    repository.write({ d: randomBytes(8) });
    const next = CommitSha.parse(repository.commit("next"));
    const tree = await listCommitTree(git, repository.path, next);
    await importTree({ git, db, store }, repository.path, tree.entries);

    expect(traffic.writes).toBe(3);
  });

  test("restores small and large blobs that the store has lost", async () => {
    const { importInto } = commitOf({ small: randomBytes(100), large: randomBytes(2_000_000) });
    await importInto(memoryBlobStore());

    const emptied = memoryBlobStore();
    const { entries } = await importInto(emptied);

    const digests = entries.flatMap((entry) => (entry.kind === "file" ? [entry.digest] : []));
    expect(digests).toHaveLength(2);
    expect(await emptied.findMissing(digests)).toEqual([]);
  });

  test("two simultaneous imports of one commit give the same result as one", async () => {
    const { importInto } = commitOf({ a: randomBytes(50), b: randomBytes(1_500_000) });
    const store = await openDiskBlobStore(mkdtempSync(join(root, "store-")));

    const [one, other] = await Promise.all([importInto(store), importInto(store)]);

    expect(one).toEqual(other);
  });

  test("skips symlinks that would leave the tree, and reports them", async () => {
    const { importInto } = commitOf({
      good: "->a/b",
      "a/passwd": "->/etc/passwd",
      "a/up": "->../../x",
      "a/via": "->b/../../../x",
    });

    const { entries, skipped } = await importInto(memoryBlobStore());

    expect(entries.map(({ path }) => path)).toEqual(["good"]);
    expect(skipped.map(({ path }) => path)).toEqual(["a/passwd", "a/up", "a/via"]);
    expect(skipped[0]?.why).toContain("absolute");
  });

  test("fails with the error of the store, and ends", async () => {
    const { importInto } = commitOf({ a: randomBytes(20), b: randomBytes(20) });
    const broken: BlobStore = {
      ...memoryBlobStore(),
      put: async () => {
        throw new Error("the store is on fire");
      },
    };

    await expect(importInto(broken)).rejects.toThrow("on fire");
  });
});

describe("listing a commit", () => {
  test("reports entries that a tree cannot contain: submodules, names that are not text or not legal", async () => {
    const { repository } = commitOf({ "back\\slash": "x", fine: "x" });
    repository.git("update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},lib`);
    repository.git("commit", "--quiet", "--message=with submodule");
    const sha = CommitSha.parse(repository.git("rev-parse", "HEAD"));

    const { entries, skipped } = await listCommitTree(git, repository.path, sha);

    expect(entries.map(({ path }) => path)).toEqual(["fine"]);
    expect(skipped).toEqual([
      { path: "back\\slash", why: "has a backslash" },
      { path: "lib", why: "is a submodule" },
    ]);
  });

  test("does not read bytes as text", () => {
    const id = "a".repeat(40);
    const listing = Buffer.concat([
      Buffer.from(`100644 blob ${id}\tb`),
      Buffer.from([0xff, 0]),
      Buffer.from(`100644 blob ${id}\t\ufffd\x00100755 blob ${id}\tx\ty\n\0`),
    ]);

    const { entries, skipped } = parseCommitTree(listing);

    expect(skipped).toEqual([{ path: "b\ufffd", why: "has a name that is not UTF-8" }]);
    expect(entries.map(({ path, executable }) => [path, executable])).toEqual([
      ["\ufffd", false],
      ["x\ty\n", true],
    ]);
  });
});

describe("reading files of a commit", () => {
  const definitions = commitOf({
    ".grange/graph.yaml": "jobs: []",
    ".grange/deep/job.yaml": "name: a",
    ".grange/link": "->graph.yaml",
    ".grangery": "no",
    other: "no",
  });
  const read = (directory: string, limits?: Parameters<typeof readFilesBelow>[4]) =>
    readFilesBelow(git, definitions.repository.path, definitions.sha, directory, limits);

  test("returns the files below a directory, without symlinks", async () => {
    const files = await read(".grange");

    expect(files.map(({ path, bytes }) => [path, String(bytes)])).toEqual([
      [".grange/deep/job.yaml", "name: a"],
      [".grange/graph.yaml", "jobs: []"],
    ]);
  });

  test("returns nothing for a missing directory, or for a file", async () => {
    expect(await read("nothing")).toEqual([]);
    expect(await read("other")).toEqual([]);
  });

  test.each([
    [{ maxFiles: 1, maxFileBytes: 100, maxTotalBytes: 100 }, "2 files; 1 are allowed"],
    [{ maxFiles: 9, maxFileBytes: 7, maxTotalBytes: 100 }, '".grange/graph.yaml" has 8 bytes'],
    [{ maxFiles: 9, maxFileBytes: 9, maxTotalBytes: 10 }, "together 10"],
  ])("refuses more than %j", async (limits, message) => {
    await expect(read(".grange", limits)).rejects.toMatchObject({
      code: "resource_exhausted",
      message: expect.stringContaining(message),
    });
  });

  test.each(["..", "/etc", "", "a/../b"])("refuses the directory %j", async (directory) => {
    await expect(read(directory)).rejects.toMatchObject({ code: "invalid_argument" });
  });
});
