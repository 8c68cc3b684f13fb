import { create, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { BlobStore } from "#cas/blob-store.ts";
import { buildDirectoryTree } from "#cas/build-directory-tree.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { flattenDirectoryTree } from "#cas/flatten-directory-tree.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { sortedByPath, type TreeEntry } from "#cas/tree-entry.ts";
import { decodeTree, encodeTree, flattenTree } from "#cas/tree-message.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { TreeSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { outputTrees } from "./output-trees.ts";

const content = digestOf(Buffer.from("content"));
const file = (path: string): TreeEntry => ({
  kind: "file",
  path,
  digest: content,
  executable: false,
});

/** A store that counts how often a whole blob is read, and from which a test can remove blobs. */
function watchedStore() {
  const base = memoryBlobStore();
  const gone = new Set<string>();
  const reads: string[] = [];
  const store: BlobStore = {
    ...base,
    async get(digest) {
      reads.push(digestKey(digest));
      return gone.has(digestKey(digest)) ? undefined : base.get(digest);
    },
    async put(digest, bytes) {
      gone.delete(digestKey(digest));
      await base.put(digest, bytes);
    },
    async findMissing(digests) {
      const lost = digests.filter((digest) => gone.has(digestKey(digest)));
      return [...lost, ...(await base.findMissing(digests))];
    },
  };
  return { store, reads, lose: (digest: Digest) => gone.add(digestKey(digest)) };
}

async function putTree(store: BlobStore, entries: readonly TreeEntry[]) {
  const tree = buildDirectoryTree(entries);
  const bytes = encodeTree(tree);
  await store.put(digestOf(bytes), bytes);
  return { digest: digestOf(bytes), tree };
}

describe("what a Tree refers to", () => {
  test("is each file and each Directory once", async () => {
    const { store } = watchedStore();
    const { digest, tree } = await putTree(store, [file("a/x"), file("b/x"), file("c/long/x")]);

    const found = await outputTrees(store).contentOf(digest);

    expect(found?.files).toEqual([content]);
    expect(new Set(found?.directories.map(digestKey))).toEqual(new Set(tree.directories.keys()));
    expect(found?.directories[0]).toEqual(tree.root.digest);
    expect(found?.longestPath).toBe("c/long/x");
  });

  test("is read once, however many ask at the same time or later", async () => {
    const { store, reads } = watchedStore();
    const { digest } = await putTree(store, [file("a/x")]);
    const trees = outputTrees(store);

    await Promise.all([trees.contentOf(digest), trees.contentOf(digest)]);
    await trees.contentOf(digest);

    expect(reads).toEqual([digestKey(digest)]);
  });

  test("is asked for again when the Tree was not there", async () => {
    const { store } = watchedStore();
    const trees = outputTrees(store);
    const { digest } = await putTree(memoryBlobStore(), [file("a")]);
    expect(await trees.contentOf(digest)).toBeUndefined();

    await putTree(store, [file("a")]);

    expect(await trees.contentOf(digest)).toMatchObject({ files: [content] });
  });
});

describe("the Directories of a Tree", () => {
  const paths = fc
    .uniqueArray(fc.array(fc.constantFrom("a", "B", "é", "～", "😀"), { minLength: 1 }), {
      selector: (names) => names.join("/"),
    })
    .map((all) => all.map((names) => names.join("/")))
    .map((all) => all.filter((p) => !all.some((q) => q.startsWith(`${p}/`))));

  test("are stored such that their root is what reading and building gives", async () => {
    await fc.assert(
      fc.asyncProperty(paths, fc.nat(3), async (all, every) => {
        const entries = all.map((path, n): TreeEntry => {
          if (n % 4 === every) return { kind: "directory", path };
          return n % 4 === 3 ? { kind: "symlink", path, target: "t" } : file(path);
        });
        const store = memoryBlobStore();
        const { digest } = await putTree(store, entries);

        const stored = await outputTrees(store).storeDirectories(digest);

        const bytes = (await store.get(digest)) ?? new Uint8Array();
        const again = buildDirectoryTree(await flattenTree(await decodeTree(bytes), "sha256"));
        expect(stored?.root).toEqual(again.root.digest);
        expect(await flattenDirectoryTree(store, again.root.digest)).toEqual(sortedByPath(entries));
      }),
    );
  });

  test("are read of the Tree once, for many who ask at the same time", async () => {
    const { store, reads } = watchedStore();
    const { digest } = await putTree(store, [file("a/x")]);
    const trees = outputTrees(store);
    await trees.contentOf(digest);

    await Promise.all([trees.storeDirectories(digest), trees.storeDirectories(digest)]);
    await trees.storeDirectories(digest);

    expect(reads).toHaveLength(2);
  });

  test("are put again when one of them was lost", async () => {
    const { store, lose } = watchedStore();
    const { digest, tree } = await putTree(store, [file("a/b/x")]);
    const trees = outputTrees(store);
    await trees.storeDirectories(digest);
    const deepest = [...tree.directories.values()].at(-1);
    if (deepest) lose(deepest.digest);

    const stored = await trees.storeDirectories(digest);

    expect(await flattenDirectoryTree(store, stored?.root ?? content)).toEqual([file("a/b/x")]);
  });

  test("cannot be had without the Tree", async () => {
    expect(await outputTrees(memoryBlobStore()).storeDirectories(content)).toBeUndefined();
  });

  const node = { name: "f", digest: toDigestMessage(content) };
  const nodeProperties = { unixMode: 0o600 };
  test.each([
    ["of a file", { files: [{ ...node, nodeProperties }] }],
    ["of a symlink", { symlinks: [{ name: "l", target: "t", nodeProperties }] }],
    ["of a directory", { nodeProperties }],
  ])("are not used as they are with properties %s, which we do not keep", async (_, init) => {
    const store = memoryBlobStore();
    const tree = create(TreeSchema, { root: init });
    const bytes = toBinary(TreeSchema, tree);
    await store.put(digestOf(bytes), bytes);

    expect(await outputTrees(store).storeDirectories(digestOf(bytes))).toBeUndefined();
  });

  test("are not used as they are with a field that we do not know", async () => {
    const store = memoryBlobStore();
    // Field 15 of the root, a varint: 0x78 0x01.
    const bytes = Buffer.from([0x0a, 2, 0x78, 1]);
    await store.put(digestOf(bytes), bytes);

    expect(await outputTrees(store).contentOf(digestOf(bytes))).toMatchObject({ isPlain: false });
  });
});
