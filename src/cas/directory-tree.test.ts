import { create, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { emptyDigest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import {
  type Directory,
  DirectorySchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { buildDirectoryTree, uploadDirectories } from "./build-directory-tree.ts";
import { toDigestMessage } from "./digest-message.ts";
import { digestOf } from "./digest-of.ts";
import { encodeDirectory } from "./directory-message.ts";
import { defaultTreeLimits, flattenDirectoryTree } from "./flatten-directory-tree.ts";
import { memoryBlobStore } from "./memory-blob-store.ts";
import { compareByCodePoint, sortedByPath, type TreeEntry } from "./tree-entry.ts";
import { decodeTree, encodeTree, flattenTree, toTreeMessage } from "./tree-message.ts";

const content = digestOf(Buffer.from("content"));
const file = (path: string, executable = false): TreeEntry => ({
  kind: "file",
  path,
  digest: content,
  executable,
});
const link = (path: string, target: string): TreeEntry => ({ kind: "symlink", path, target });
const folder = (path: string): TreeEntry => ({ kind: "directory", path });

/** Trees in which files, links and empty directories never share a path. */
const legalTrees = fc
  .uniqueArray(
    fc.array(fc.constantFrom("a", "b", "B", "é", "～", "😀", "a.b"), {
      minLength: 1,
      maxLength: 4,
    }),
    { selector: (names) => names.join("/"), maxLength: 30 },
  )
  .map((paths) => paths.map((names) => names.join("/")))
  .map((paths) => paths.filter((p) => !paths.some((q) => q.startsWith(`${p}/`))))
  .chain((paths) =>
    fc.tuple(
      ...paths.map((path) =>
        fc.constantFrom(file(path), file(path, true), link(path, "x"), folder(path)),
      ),
    ),
  );

describe("a tree of directories", () => {
  test("gives back the entries that it was built from", async () => {
    await fc.assert(
      fc.asyncProperty(legalTrees, async (entries) => {
        const store = memoryBlobStore();
        const root = await uploadDirectories(store, buildDirectoryTree(entries));

        expect(await flattenDirectoryTree(store, root)).toEqual(sortedByPath(entries));
      }),
    );
  });

  test("gives them back from a Tree message too", async () => {
    await fc.assert(
      fc.asyncProperty(legalTrees, async (entries) => {
        const bytes = encodeTree(buildDirectoryTree(entries));

        expect(await flattenTree(await decodeTree(bytes), "sha256")).toEqual(sortedByPath(entries));
      }),
    );
  });

  test("has one digest, whatever order its entries came in", () => {
    fc.assert(
      fc.property(legalTrees, (entries) => {
        const reversed = entries.toReversed();

        expect(buildDirectoryTree(reversed).root.digest).toEqual(
          buildDirectoryTree(entries).root.digest,
        );
      }),
    );
  });

  test("is encoded without default values, byte for byte as other clients do", () => {
    const { root } = buildDirectoryTree([
      { kind: "file", path: "a", digest: emptyDigest, executable: false },
    ]);

    // files { name: "a" digest { hash: "e3b0…" } }: no size_bytes, no is_executable.
    const inner = Buffer.concat([Buffer.from([0x0a, 64]), Buffer.from(emptyDigest.hash)]);
    const node = Buffer.concat([Buffer.from([0x0a, 1, 0x61, 0x12, inner.length]), inner]);
    expect(Buffer.from(root.bytes)).toEqual(
      Buffer.concat([Buffer.from([0x0a, node.length]), node]),
    );
  });

  test("of nothing is the empty blob", () => {
    expect(buildDirectoryTree([]).root.digest).toEqual(emptyDigest);
  });

  test("holds equal directories once, parents first", () => {
    const tree = buildDirectoryTree([file("x/d/f"), file("y/d/f"), file("y/g")]);

    expect(tree.directories.size).toBe(4);
    expect([...tree.directories.values()][0]).toBe(tree.root);
    expect(toTreeMessage(tree).children).toHaveLength(3);
  });

  test.each<[string, TreeEntry[], string]>([
    ["a path twice", [file("a"), file("a")], "twice"],
    ["a file and a link at one path", [file("a"), link("a", "b")], "twice"],
    ["a file below a file", [file("a"), file("a/b")], "file and a directory"],
    ["a file above a file", [file("a/b"), file("a")], "file and a directory"],
    ["a file below a symlink", [link("a", "b"), file("a/c")], "symlink and a directory"],
    ["an empty directory at a file", [file("a"), folder("a")], "file and a directory"],
    ["a file at an empty directory", [folder("a"), file("a")], "file and a directory"],
    ["an absolute path", [file("/etc/passwd")], "absolute"],
    ["a path that climbs", [file("a/../../b")], '".."'],
    ["a symlink that climbs", [link("a/b", "../../c")], "leads out"],
    ["a NUL", [file("a\0")], "NUL"],
  ])("refuses %s", (_, entries, problem) => {
    expect(() => buildDirectoryTree(entries)).toThrow(problem);
  });

  test("an empty directory that is not empty is one directory", () => {
    expect(buildDirectoryTree([folder("a"), file("a/b"), folder("a")]).root.digest).toEqual(
      buildDirectoryTree([file("a/b")]).root.digest,
    );
  });
});

describe("a tree that somebody else made", () => {
  const node = (name: string) => ({ name, digest: toDigestMessage(content) });
  const hostile: [string, Directory, string][] = [
    ["a name with a slash", create(DirectorySchema, { files: [node("a/b")] }), "slash"],
    ["a name that climbs", create(DirectorySchema, { files: [node("..")] }), '".."'],
    ["a directory that climbs", create(DirectorySchema, { directories: [node("..")] }), '".."'],
    ["an empty name", create(DirectorySchema, { files: [node("")] }), "empty"],
    ["names out of order", create(DirectorySchema, { files: [node("b"), node("a")] }), "order"],
    ["a name twice", create(DirectorySchema, { files: [node("a"), node("a")] }), "twice"],
    [
      "a name of two kinds",
      create(DirectorySchema, { files: [node("a")], directories: [node("a")] }),
      "twice",
    ],
    [
      "a symlink that climbs",
      create(DirectorySchema, { symlinks: [{ name: "a", target: "../x" }] }),
      "leads out",
    ],
    ["a file without digest", create(DirectorySchema, { files: [{ name: "a" }] }), "no digest"],
    [
      "a malformed digest",
      create(DirectorySchema, { files: [{ name: "a", digest: { hash: "A", sizeBytes: 1n } }] }),
      "no valid digest",
    ],
    [
      "a digest of negative size",
      create(DirectorySchema, {
        files: [{ name: "a", digest: { hash: content.hash, sizeBytes: -1n } }],
      }),
      "no valid digest",
    ],
  ];

  test.each(hostile)("is refused with %s, as directories and as Tree", async (_, root, problem) => {
    const store = memoryBlobStore();
    const bytes = toBinary(DirectorySchema, root);
    await store.put(digestOf(bytes), bytes);

    await expect(flattenDirectoryTree(store, digestOf(bytes))).rejects.toThrow(problem);
    await expect(
      flattenTree(
        { $typeName: "build.bazel.remote.execution.v2.Tree", root, children: [] },
        "sha256",
      ),
    ).rejects.toThrow(problem);
  });

  test("is refused with a name that is not UTF-8, which the message shows", async () => {
    // Encoded by hand: a Directory with one file, whose name is the byte of "é" in Latin-1.
    const file = Buffer.from([0x0a, 3, 0x63, 0xe9, 0x65]);
    const directory = Buffer.concat([Buffer.from([0x0a, file.length]), file]);
    const store = memoryBlobStore();
    await store.put(digestOf(directory), directory);
    const tree = Buffer.concat([Buffer.from([0x0a, directory.length]), directory]);

    for (const refused of [flattenDirectoryTree(store, digestOf(directory)), decodeTree(tree)])
      await expect(refused).rejects.toThrow('the name "c\u00e9e"');
  });

  test("is refused when its bytes are no Directory", async () => {
    const store = memoryBlobStore();
    const bytes = Buffer.from("\xff\xff\xff");
    await store.put(digestOf(bytes), bytes);

    await expect(flattenDirectoryTree(store, digestOf(bytes))).rejects.toThrow("decoded");
    await expect(decodeTree(bytes)).rejects.toThrow("decoded");
  });

  test("is refused as a Tree at its first illegal child, before what follows is decoded", async () => {
    const illegal = Buffer.from([0x12, 0x04, 0x12, 0x02, 0x0a, 0x00]);
    const noTree = Buffer.alloc(100, 0xff);

    await expect(decodeTree(Buffer.concat([illegal, noTree]))).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining("empty"),
    });
  });

  test("fails with a Fault and nothing else, whatever its bytes are", async () => {
    const store = memoryBlobStore();
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), async (bytes) => {
        await store.put(digestOf(bytes), bytes);
        const outcomes = await Promise.allSettled([
          flattenDirectoryTree(store, digestOf(bytes)),
          decodeTree(bytes).then((tree) => flattenTree(tree, "sha256")),
        ]);
        const reasons = outcomes.flatMap((o) => (o.status === "rejected" ? [o.reason] : []));
        expect(reasons.filter((reason) => !(reason instanceof Fault))).toEqual([]);
      }),
      { numRuns: 5_000 },
    );
  });

  test("names the directory that is missing", async () => {
    const store = memoryBlobStore();
    const tree = buildDirectoryTree([file("a/b")]);
    await store.put(tree.root.digest, tree.root.bytes);

    await expect(flattenDirectoryTree(store, tree.root.digest)).rejects.toMatchObject({
      code: "failed_precondition",
    });
    const torn = { ...toTreeMessage(tree), children: [] };
    await expect(flattenTree(torn, "sha256")).rejects.toThrow("lacks");
  });

  test("is refused at once when it doubles at each of 60 levels", async () => {
    const store = memoryBlobStore();
    let child = encodeDirectory(create(DirectorySchema, { files: [node("f")] }));
    await store.put(child.digest, child.bytes);
    for (let level = 0; level < 60; level++) {
      const digest = toDigestMessage(child.digest);
      child = encodeDirectory(
        create(DirectorySchema, {
          directories: [
            { name: "a", digest },
            { name: "b", digest },
          ],
        }),
      );
      await store.put(child.digest, child.bytes);
    }

    await expect(
      flattenDirectoryTree(store, child.digest, { ...defaultTreeLimits, maxEntries: 10_000 }),
    ).rejects.toMatchObject({ code: "resource_exhausted" });
  });

  test("is refused when it is deeper than allowed", async () => {
    const store = memoryBlobStore();
    const deep = buildDirectoryTree([file(Array.from({ length: 300 }, () => "d").join("/"))]);
    await uploadDirectories(store, deep);

    await expect(flattenDirectoryTree(store, deep.root.digest)).rejects.toThrow("deeper than 256");
  });
});

test("names are in the order of their UTF-8 bytes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (a, b) => {
      expect(Math.sign(compareByCodePoint(a, b))).toBe(
        Buffer.compare(Buffer.from(a), Buffer.from(b)),
      );
    }),
    { numRuns: 2_000 },
  );
  expect(compareByCodePoint("～", "😀")).toBeLessThan(0);
});
